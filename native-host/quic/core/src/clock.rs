//! The clock of one attempt: the source of every time that leaves this crate.

use std::time::{Duration, Instant};

/// Owner and attempt share a deadline but have separate clocks: if the owner cancels this close to it, the deadline was
/// meant, and the attempt reports what is missing.
const DEADLINE_LEEWAY: Duration = Duration::from_millis(10);

/// A monotonic clock that starts with the attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: Instant,
}

impl Clock {
    /// A clock that reads 0 now.
    pub(crate) fn start() -> Self {
        Self::started_at(Instant::now())
    }

    /// A clock that read 0 then.
    pub(crate) fn started_at(started: Instant) -> Self {
        Self { started }
    }

    /// The time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Whether `deadline`, counted from the start, has come by [`DEADLINE_LEEWAY`].
    pub(crate) fn is_at(&self, deadline: Duration) -> bool {
        self.elapsed().saturating_add(DEADLINE_LEEWAY) >= deadline
    }

    /// Resolves at `deadline`, counted from the start.
    pub(crate) fn reaches(&self, deadline: Duration) -> tokio::time::Sleep {
        tokio::time::sleep(deadline.saturating_sub(self.elapsed()))
    }
}

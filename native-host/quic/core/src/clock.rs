//! The clock of one attempt: every time that leaves this crate is read from it.

use std::time::{Duration, Instant};

/// Owner and attempt share a deadline by two clocks: an owner that cancels so close to it means the deadline, and it is
/// the attempt that knows what is missing.
pub(crate) const DEADLINE_LEEWAY: Duration = Duration::from_millis(10);

/// A monotonic clock that starts with the attempt.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
}

impl Clock {
    /// A clock that reads 0 now.
    pub fn start() -> Self {
        Self::started_at(Instant::now())
    }

    /// A clock that read 0 then.
    pub fn started_at(started: Instant) -> Self {
        Self { started }
    }

    /// Milliseconds since the start, with a fraction.
    pub fn now_ms(&self) -> f64 {
        to_ms(self.started.elapsed())
    }

    /// Whether `deadline`, counted from the start, has come by [`DEADLINE_LEEWAY`].
    pub(crate) fn is_at(&self, deadline: Duration) -> bool {
        self.started.elapsed() + DEADLINE_LEEWAY >= deadline
    }

    /// The instant `after` the start.
    pub fn at(&self, after: Duration) -> tokio::time::Instant {
        tokio::time::Instant::from_std(self.started + after)
    }
}

/// A duration in milliseconds, with a fraction.
pub fn to_ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

//! The clock of one attempt: every time that leaves this crate is read from it.

use std::time::{Duration, Instant};

/// A monotonic clock that starts with the attempt.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
}

impl Clock {
    /// A clock that reads 0 now.
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
        }
    }

    /// Milliseconds since the start, with a fraction.
    pub fn now_ms(&self) -> f64 {
        to_ms(self.started.elapsed())
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

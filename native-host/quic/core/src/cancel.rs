//! The only way to stop an attempt, in any phase.

use tokio::sync::watch;

/// Stops the attempt that was given a clone of it. Cancelling again does nothing.
#[derive(Clone, Debug)]
pub struct Cancel {
    flag: watch::Sender<bool>,
}

impl Default for Cancel {
    fn default() -> Self {
        Self {
            flag: watch::Sender::new(false),
        }
    }
}

impl Cancel {
    /// Requests the end: pending futures resolve with `cancelled` at their next poll.
    pub fn cancel(&self) {
        self.flag.send_replace(true);
    }

    /// Whether [`Self::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        *self.flag.borrow()
    }

    /// Resolves once [`Self::cancel`] was called, even if that was before.
    pub async fn cancelled(&self) {
        // The only error is a dropped sender, and `self` holds one.
        let _ = self.flag.subscribe().wait_for(|cancelled| *cancelled).await;
    }
}

//! The one way to stop an attempt, whatever phase it is in.

use tokio::sync::watch;

/// Stops the attempt that was given a clone of it. Cancelling twice does nothing more.
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
    /// Asks for the end: whatever waits resolves with `cancelled` at its next poll.
    pub fn cancel(&self) {
        self.flag.send_replace(true);
    }

    /// Whether [`Self::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        *self.flag.borrow()
    }

    /// Resolves once [`Self::cancel`] was called, also when that was before.
    pub async fn cancelled(&self) {
        // The only error is a dropped sender, and `self` holds one.
        let _ = self.flag.subscribe().wait_for(|cancelled| *cancelled).await;
    }
}

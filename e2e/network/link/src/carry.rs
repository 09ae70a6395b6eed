//! Carries one direction's packets from device to device, each when it is due.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::num::NonZeroU64;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;

use crate::busy_wait::BusyWait;
use crate::direction::Direction;

/// The longest IP packet there can be.
const LONGEST_BYTES: usize = 65_535;
/// Packets taken in before those that are due get their turn.
const BATCH: usize = 32;

/// A direction that control and carrying share.
pub fn lock(direction: &Mutex<Direction>) -> MutexGuard<'_, Direction> {
    direction.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Carries packets until the device it reads is gone.
pub fn carry(mut from: &File, mut to: &File, direction: &Mutex<Direction>) -> io::Result<()> {
    // Without real-time priority the kernel would let every sleep run 50 us over.
    set_current_timer_slack(Some(NonZeroU64::MIN))?;
    let mut buffer = vec![0; LONGEST_BYTES];
    let mut busy_wait = BusyWait::new(Instant::now());
    loop {
        while let Some(queued) = deliver(direction) {
            // A device that is down accepts nothing, like an unplugged cable.
            let _ = to.write(&queued);
        }
        // A statement of its own, so that the lock is not held while waiting.
        let due = lock(direction).next_due();
        wait(from, busy_wait.sleep(due, Instant::now()))?;
        for _ in 0..BATCH {
            match from.read(&mut buffer) {
                Ok(bytes) => lock(direction).arrive(&buffer[..bytes], Instant::now()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
        }
    }
}

fn deliver(direction: &Mutex<Direction>) -> Option<Vec<u8>> {
    let queued = lock(direction).deliver(Instant::now())?;
    Some(queued.packet)
}

/// Waits for a packet, indefinitely without a time-out.
fn wait(from: &File, patience: Option<Duration>) -> io::Result<()> {
    let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
    match poll(&mut [PollFd::new(from, PollFlags::IN)], patience.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

//! Carries one direction's packets from device to device, each when it is due.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::lane::Lane;

/// The last stretch before a packet is due is not slept: an idle machine takes that long to wake.
const SPIN: Duration = Duration::from_micros(150);
/// The longest IP packet there can be.
const LONGEST_BYTES: usize = 65_535;
/// Packets taken in before those that are due get their turn.
const BATCH: usize = 32;

/// A lane that control and carrying share.
pub fn lock(lane: &Mutex<Lane>) -> MutexGuard<'_, Lane> {
    lane.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Carries until the device that is read is gone.
pub fn carry(mut from: &File, mut to: &File, lane: &Mutex<Lane>) -> io::Result<()> {
    let mut buffer = vec![0; LONGEST_BYTES];
    loop {
        while let Some(passage) = deliver(lane) {
            // A device that is not up takes nothing, as a cable that is not plugged in.
            let _ = to.write(&passage);
        }
        // A statement of its own, so that the lock is not held while waiting.
        let due = lock(lane).next_due();
        wait(from, due)?;
        for _ in 0..BATCH {
            match from.read(&mut buffer) {
                Ok(bytes) => lock(lane).arrive(&buffer[..bytes], Instant::now()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
        }
    }
}

fn deliver(lane: &Mutex<Lane>) -> Option<Vec<u8>> {
    let passage = lock(lane).deliver(Instant::now())?;
    Some(passage.packet)
}

/// Waits for a packet, at most until shortly before the next one is due.
fn wait(from: &File, due: Option<Instant>) -> io::Result<()> {
    let patience = due
        .map(|due| due.saturating_duration_since(Instant::now()))
        .and_then(|left| Timespec::try_from(left.saturating_sub(SPIN)).ok());
    match poll(&mut [PollFd::new(from, PollFlags::IN)], patience.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

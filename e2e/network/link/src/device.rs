//! A TUN device in a network namespace: whole IP packets, no offloads, removed when its descriptor
//! is closed; and how one direction's packets are carried from device to device, each when it is due.

use std::ffi::{c_int, c_short};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::ioctl::{Setter, ioctl, opcode};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space, set_current_timer_slack};
use serde::Deserialize;

use crate::LinkError;
use crate::busy_wait::BusyWait;
use crate::direction::Direction;

/// Where iproute2 keeps named network namespaces.
const NAMED: &str = "/run/netns";
const TUN: &str = "/dev/net/tun";
/// linux/if.h: IFNAMSIZ, including the terminator.
const NAME_BYTES: usize = 16;
/// linux/if_tun.h.
const IFF_TUN: c_short = 0x0001;
const IFF_NO_PI: c_short = 0x1000;
const TUNSETIFF: rustix::ioctl::Opcode = opcode::write::<c_int>(b'T', 202);
/// What struct ifreq holds besides the name; only the flags are of interest here.
const REST_BYTES: usize = 24 - size_of::<c_short>();

/// One end of the link.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    namespace: String,
    device: String,
}

#[repr(C)]
struct InterfaceRequest {
    name: [u8; NAME_BYTES],
    flags: c_short,
    rest: [u8; REST_BYTES],
}

impl InterfaceRequest {
    fn new(device: &str) -> Result<Self, LinkError> {
        let mut name = [0; NAME_BYTES];
        // The last byte is the terminator.
        let room = name[..NAME_BYTES - 1].get_mut(..device.len());
        room.ok_or(LinkError::LongName)?
            .copy_from_slice(device.as_bytes());
        Ok(Self {
            name,
            flags: IFF_TUN | IFF_NO_PI,
            rest: [0; REST_BYTES],
        })
    }
}

/// Creates the device in non-blocking mode.
pub fn make(end: &End) -> Result<File, LinkError> {
    let request = InterfaceRequest::new(&end.device)?;
    let namespace = File::open(Path::new(NAMED).join(&end.namespace))?;
    // A device belongs to the namespace of the thread that opens it, and setns affects only its own
    // thread.
    thread::scope(|scope| {
        let made = scope.spawn(|| make_here(&namespace, request));
        Ok(made.join().map_err(|_| LinkError::Panic)??)
    })
}

fn make_here(namespace: &File, request: InterfaceRequest) -> io::Result<File> {
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open(TUN)?;
    attach(&device, request)?;
    Ok(device)
}

#[expect(
    unsafe_code,
    reason = "the one system call that no safe wrapper covers: TUNSETIFF takes a struct ifreq"
)]
fn attach(device: &File, request: InterfaceRequest) -> io::Result<()> {
    // SAFETY: the opcode takes a pointer to a struct ifreq, of which `InterfaceRequest` has the
    // layout and at least the size.
    Ok(unsafe { ioctl(device, Setter::<TUNSETIFF, _>::new(request)) }?)
}

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

//! A TUN device in a network namespace: whole IP packets, no offloads, removed when its descriptor
//! is closed.

use std::ffi::{c_int, c_short};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;

use rustix::fs::OFlags;
use rustix::ioctl::{Setter, ioctl, opcode};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde::Deserialize;

use crate::LinkError;

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

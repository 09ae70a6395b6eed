//! Carries an endpoint's packets: in UDP (RFC 6951) or directly over IP (protocol 132), on one
//! socket.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::association::Association;
use crate::endpoint::{Endpoint, Key};
use crate::timers::Timers;

/// SCTP's protocol number in IP.
pub const SCTP: i32 = 132;
const LINK_MTU: usize = 1500;
const UDP_HEADER_BYTES: usize = 8;
const MAX_PACKET_BYTES: usize = 65_535;
/// Without a limit a busy peer would keep everything else from happening.
const PACKETS_AT_ONCE: usize = 64;
const BUFFER_BYTES: usize = 4 << 20;
const FAR: Duration = Duration::from_secs(3600);

/// What is below SCTP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Below {
    /// With the local port; 0 chooses one.
    Udp(u16),
    Ip,
}

pub struct Carrier {
    socket: UdpSocket,
    pub(crate) endpoint: RefCell<Endpoint>,
    /// IPv4's raw sockets deliver packets with their header.
    with_ip_header: bool,
    epoch: Instant,
    /// The timer must be set anew.
    earlier: Notify,
    /// When the timer is set to expire.
    timer: Cell<Option<Duration>>,
    /// Packets that the kernel did not take.
    dropped: Cell<u64>,
}

impl Carrier {
    /// Binds a socket to that address and begins to carry packets until it is dropped.
    ///
    /// # Errors
    /// If the socket cannot be opened, or the kernel's own SCTP would answer the same packets.
    pub async fn open(below: Below, local: IpAddr, listening: Vec<u16>) -> io::Result<Rc<Self>> {
        let domain = Domain::for_address(SocketAddr::new(local, 0));
        let (socket, port, overhead) = match below {
            Below::Udp(port) => (
                Socket::new(domain, Type::DGRAM, None)?,
                port,
                UDP_HEADER_BYTES,
            ),
            Below::Ip => {
                if Path::new("/proc/net/sctp").exists() {
                    return Err(io::Error::other(
                        "the kernel's own SCTP answers its packets",
                    ));
                }
                (
                    Socket::new(domain, Type::RAW, Some(Protocol::from(SCTP)))?,
                    0,
                    0,
                )
            }
        };
        if local.is_ipv6() && below != Below::Ip {
            socket.set_only_v6(true)?;
        }
        socket.set_nonblocking(true)?;
        // As much as the system grants.
        let _ = socket.set_recv_buffer_size(BUFFER_BYTES);
        let _ = socket.set_send_buffer_size(BUFFER_BYTES);
        socket.bind(&SocketAddr::new(local, port).into())?;
        let ip_header = if local.is_ipv6() { 40 } else { 20 };
        let mtu = LINK_MTU - ip_header - overhead;
        let carrier = Rc::new(Self {
            socket: UdpSocket::from_std(socket.into())?,
            endpoint: RefCell::new(Endpoint::new(Timers::default().options(mtu), listening)),
            with_ip_header: below == Below::Ip && local.is_ipv4(),
            epoch: Instant::now(),
            earlier: Notify::new(),
            timer: Cell::new(None),
            dropped: Cell::new(0),
        });
        // Before that, packets would be refused.
        carrier.socket.writable().await?;
        tokio::task::spawn_local(Rc::clone(&carrier).run());
        Ok(carrier)
    }

    /// For a client of servers at that address.
    pub async fn towards(below: Below, remote: IpAddr) -> io::Result<Rc<Self>> {
        let any = match remote {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        Self::open(below, any, Vec::new()).await
    }

    pub fn dropped(&self) -> u64 {
        self.dropped.get()
    }

    pub fn associations(&self) -> usize {
        self.endpoint.borrow().associations()
    }

    /// Sends an INIT. Dropping what is returned aborts the association.
    pub fn connect(self: &Rc<Self>, address: SocketAddr, port: u16) -> Association {
        let key = self.with(|endpoint, now| endpoint.connect(now, address, port));
        self.association(key)
    }

    /// An association that a peer has established.
    pub async fn accept(self: &Rc<Self>) -> Association {
        let next = std::future::poll_fn(|context| {
            let key = self.endpoint.borrow_mut().accept(context.waker());
            key.map_or(Poll::Pending, Poll::Ready)
        });
        self.association(next.await)
    }

    fn association(self: &Rc<Self>, key: Key) -> Association {
        Association::new(Rc::clone(self), key)
    }

    /// Calls the endpoint, sends its packets and sets the timer.
    pub(crate) fn with<T>(&self, call: impl FnOnce(&mut Endpoint, Duration) -> T) -> T {
        let endpoint = &mut self.endpoint.borrow_mut();
        let result = call(endpoint, self.epoch.elapsed());
        while let Some((to, packet)) = endpoint.next_outgoing() {
            // As on a full link: SCTP retransmits.
            if self.socket.try_send_to(&packet, to).is_err() {
                self.dropped.set(self.dropped.get() + 1);
            }
        }
        if let Some(next) = endpoint.next_timeout()
            && self.timer.get().is_none_or(|timer| next < timer)
        {
            self.earlier.notify_one();
        }
        result
    }

    async fn run(self: Rc<Self>) {
        let mut buffer = vec![0; MAX_PACKET_BYTES];
        let mut timer = pin!(sleep_until(self.epoch + FAR));
        loop {
            let next = self.endpoint.borrow().next_timeout();
            if next != self.timer.get() {
                self.timer.set(next);
                let at = next.map_or_else(|| Instant::now() + FAR, |next| self.epoch + next);
                timer.as_mut().reset(at);
            }
            tokio::select! {
                readable = self.socket.readable() => if readable.is_ok() {
                    self.receive(&mut buffer);
                },
                () = &mut timer => {
                    self.timer.set(None);
                    self.with(|endpoint, now| endpoint.expire(now));
                }
                () = self.earlier.notified() => {}
            }
        }
    }

    fn receive(&self, buffer: &mut [u8]) {
        for _ in 0..PACKETS_AT_ONCE {
            // An error is that of an earlier packet, which its sender repeats.
            let Ok((length, from)) = self.socket.try_recv_from(buffer) else {
                return;
            };
            let packet = &buffer[..length];
            let payload = if self.with_ip_header {
                without_ip_header(packet)
            } else {
                packet
            };
            self.with(|endpoint, now| endpoint.handle(now, from, payload));
        }
    }
}

/// RFC 791 section 3.1: the header's length is in words of four bytes.
fn without_ip_header(packet: &[u8]) -> &[u8] {
    let words = usize::from(packet.first().copied().unwrap_or_default() & 0xf);
    packet.get(4 * words..).unwrap_or_default()
}

//! The attempt's own UDP socket: connected to one address, with counters, and monitored for refusals. quinn swallows
//! socket errors, so a refused port would look like a time-out (quinn#2766). It is a plain socket: quinn's own asks the
//! kernel to coalesce datagrams, which would cost every attempt 3 MiB of buffers and a change to the kernel's receive
//! path, a fifth of a cold race.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::ops::Range;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use tokio::sync::Notify;

use crate::attempt::QUIC_VERSION;
use crate::clock::Clock;
use crate::options::OnFirstDatagram;

/// Header form, fixed bit and type Retry in a long header's first byte (RFC 9000 section 17.2.5); unlike the bits below
/// them, these are not hidden by header protection.
const RETRY_BITS: u8 = 0b1111_0000;
const LONG_HEADER: u8 = 0b1000_0000;

const VERSION_AT: Range<usize> = 1..5;
/// Offset of the destination connection ID's length in a long header (RFC 9000 section 17.2).
const DESTINATION_LENGTH_AT: usize = 5;

/// What may arrive until a request is sent: a certificate chain of TLS's maximum of 64 KiB, sent four times.
const HANDSHAKE_BYTES: u64 = 256 * 1024;

/// Datagrams in either direction that no attempt needs: the bytes that may arrive fit into a quarter of them, and every
/// second one of a flood of empty datagrams would be acknowledged.
const MAX_DATAGRAMS: u32 = 4096;

/// Datagram counts of one attempt, with the times of the first in each direction since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    pub first_datagram_out: Option<Duration>,
    pub first_datagram_in: Option<Duration>,
    pub datagrams_sent: u32,
    pub datagrams_received: u32,
    /// Retry packets; a client honours only the first (RFC 9000 section 17.2.5.2).
    pub retries_received: u32,
}

/// Why the socket ends the attempt.
#[derive(Debug)]
pub(crate) enum SocketError {
    /// The peer, the network or this machine lets no datagram through.
    Undeliverable(Arc<io::Error>),
    /// The peer sent more than any legal answer needs.
    OverBudget,
}

#[derive(Debug)]
struct Counters {
    traffic: Traffic,
    received_bytes: u64,
    budget_bytes: u64,
}

/// A connected UDP socket for exactly one QUIC connection.
#[derive(Debug)]
pub(crate) struct ProbeSocket {
    io: tokio::net::UdpSocket,
    remote: SocketAddr,
    clock: Clock,
    on_first_in: Option<OnFirstDatagram>,
    counters: Mutex<Counters>,
    /// The connection ID that we chose, which the peer must use to address us; taken from our own first datagram.
    own_id: OnceLock<Vec<u8>>,
    fatal_error: OnceLock<SocketError>,
    failed: Notify,
    closing: AtomicBool,
    close_sent: Notify,
}

impl ProbeSocket {
    /// Binds an ephemeral port and pins `remote`: only its datagrams, and its ICMP errors, are received.
    pub(crate) fn connect(
        remote: SocketAddr,
        clock: Clock,
        on_first_in: Option<OnFirstDatagram>,
    ) -> io::Result<Arc<Self>> {
        let socket = photofinish_udp::connect(remote)?;
        forbid_fragments(&socket, remote)?;
        Ok(Arc::new(Self {
            remote,
            io: tokio::net::UdpSocket::from_std(socket)?,
            clock,
            on_first_in,
            counters: Mutex::new(Counters {
                traffic: Traffic::default(),
                received_bytes: 0,
                budget_bytes: HANDSHAKE_BYTES,
            }),
            own_id: OnceLock::new(),
            fatal_error: OnceLock::new(),
            failed: Notify::new(),
            closing: AtomicBool::new(false),
            close_sent: Notify::new(),
        }))
    }

    /// The current counters.
    pub(crate) fn traffic(&self) -> Traffic {
        self.counters().traffic
    }

    /// Allows this many more bytes to arrive. Bounds what the layers above can be made to buffer.
    pub(crate) fn allow_bytes(&self, bytes: u64) {
        let mut counters = self.counters();
        counters.budget_bytes = counters.received_bytes.saturating_add(bytes);
    }

    /// Resolves when the attempt cannot continue; never otherwise. One waiter at a time.
    pub(crate) async fn fatal_error(&self) -> &SocketError {
        loop {
            if let Some(fatal_error) = self.fatal_error.get() {
                return fatal_error;
            }
            tokio::select! {
                () = self.failed.notified() => {}
                error = photofinish_udp::pending_error(&self.io) => self.note(error),
            }
        }
    }

    /// Marks the next datagram as the last one (a CONNECTION_CLOSE).
    pub(crate) fn expect_close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    /// Resolves when the last datagram has been sent.
    pub(crate) async fn close_sent(&self) {
        self.close_sent.notified().await;
    }

    fn note(&self, error: io::Error) {
        if is_final(&error) {
            self.raise(SocketError::Undeliverable(Arc::new(error)));
        }
    }

    fn raise(&self, fatal_error: SocketError) {
        let _ = self.fatal_error.set(fatal_error);
        self.failed.notify_one();
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_received(&self, bufs: &[IoSliceMut<'_>], meta: &[RecvMeta]) {
        let now = self.clock.elapsed();
        let datagrams = bufs
            .iter()
            .zip(meta)
            .filter_map(|(buf, meta)| buf.get(..meta.len));
        let retries = datagrams.filter(|datagram| self.is_retry(datagram)).count();

        let mut counters = self.counters();
        counters.received_bytes += meta.iter().map(|meta| meta.len as u64).sum::<u64>();
        let traffic = &mut counters.traffic;
        traffic.retries_received += retries as u32;
        traffic.datagrams_received += meta.len() as u32;
        let is_first = traffic.first_datagram_in.is_none();
        traffic.first_datagram_in.get_or_insert(now);
        let is_too_much = traffic.datagrams_received > MAX_DATAGRAMS
            || counters.received_bytes > counters.budget_bytes;
        drop(counters);

        if let Some(listener) = self.on_first_in.as_ref().filter(|_| is_first) {
            listener.tell();
        }
        if is_too_much {
            self.raise(SocketError::OverBudget);
        }
    }

    /// Whether a datagram is a Retry for this connection; without its ID it is ignored as noise.
    fn is_retry(&self, datagram: &[u8]) -> bool {
        let is_kind = datagram
            .first()
            .is_some_and(|byte| byte & RETRY_BITS == RETRY_BITS);
        let own_version = datagram.get(VERSION_AT) == Some(&QUIC_VERSION.to_be_bytes());
        is_kind
            && own_version
            && self
                .own_id
                .get()
                .is_some_and(|own| id_at(datagram, DESTINATION_LENGTH_AT) == Some(own))
    }

    /// Takes our own connection ID from a first flight, in which it is the source's.
    fn note_own_id(&self, datagram: &[u8]) {
        if self.own_id.get().is_some()
            || datagram.first().is_none_or(|byte| byte & LONG_HEADER == 0)
        {
            return;
        }
        let destination = id_at(datagram, DESTINATION_LENGTH_AT).map_or(0, <[u8]>::len);
        if let Some(own) = id_at(datagram, DESTINATION_LENGTH_AT + 1 + destination) {
            let _ = self.own_id.set(own.to_vec());
        }
    }

    fn count_sent(&self, datagram: &[u8]) {
        self.note_own_id(datagram);
        let mut counters = self.counters();
        let traffic = &mut counters.traffic;
        traffic
            .first_datagram_out
            .get_or_insert_with(|| self.clock.elapsed());
        traffic.datagrams_sent += 1;
        let is_too_much = traffic.datagrams_sent > MAX_DATAGRAMS;
        drop(counters);
        if is_too_much {
            self.raise(SocketError::OverBudget);
        }
        if self.closing.load(Ordering::Acquire) {
            self.close_sent.notify_one();
        }
    }

    /// Receives what is available, as far as there is room; fails only if the first read does.
    fn receive(&self, bufs: &mut [IoSliceMut<'_>], meta: &mut [RecvMeta]) -> io::Result<usize> {
        let mut count = 0;
        for (buf, meta) in bufs.iter_mut().zip(meta) {
            match self.io.try_recv(buf) {
                Ok(len) => {
                    *meta = RecvMeta {
                        addr: self.remote,
                        len,
                        stride: len,
                        ecn: None,
                        dst_ip: None,
                    };
                    count += 1;
                }
                Err(error) if count == 0 => return Err(error),
                Err(error) => {
                    if error.kind() != io::ErrorKind::WouldBlock {
                        self.note(error);
                    }
                    break;
                }
            }
        }
        Ok(count)
    }
}

impl AsyncUdpSocket for ProbeSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(WritePoller { socket: self })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        match self.io.try_send(transmit.contents) {
            Ok(_) => self.count_sent(transmit.contents),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
            // An error would end quinn's driver without a cause; the owner is notified here instead, and for QUIC the
            // datagram is merely lost.
            Err(error) => self.note(photofinish_udp::path_error(error, self.remote)),
        }
        Ok(())
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            // The attempt is over; the kernel drops further data.
            if let Some(SocketError::OverBudget) = self.fatal_error.get() {
                return Poll::Pending;
            }
            ready!(self.io.poll_recv_ready(cx))?;
            match self.receive(bufs, meta) {
                Ok(count) => {
                    self.count_received(bufs, meta.get(..count).unwrap_or_default());
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => self.note(error),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }
}

/// Wakes the only connection on the socket, so tokio's single stored waker suffices.
#[derive(Debug)]
struct WritePoller {
    socket: Arc<ProbeSocket>,
}

impl UdpPoller for WritePoller {
    fn poll_writable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.io.poll_send_ready(cx)
    }
}

/// The connection ID whose length is at this offset of a long header.
fn id_at(datagram: &[u8], at: usize) -> Option<&[u8]> {
    let length = usize::from(*datagram.get(at)?);
    datagram.get(at + 1..)?.get(..length)
}

/// A datagram that this machine's own firewall drops: EPERM, on Windows WSAEACCES. EACCES elsewhere may be the path's, as
/// ICMPv6 reports what is administratively prohibited with it.
const FORBIDDEN_HERE: i32 = if cfg!(windows) { 10013 } else { 1 };

/// Whether this machine forbids sending, so that the error says nothing about the peer or the path.
pub(crate) fn is_forbidden_here(error: &io::Error) -> bool {
    error.raw_os_error() == Some(FORBIDDEN_HERE)
}

/// Whether every later datagram to this address would fail too. Too large datagrams, full buffers and the like are left
/// to QUIC's loss recovery.
pub(crate) fn is_final(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown
            | io::ErrorKind::PermissionDenied
    )
}

/// QUIC datagrams must not be fragmented (RFC 9000 section 14); only Linux sets this by default, and only once a path
/// has been found to be narrow.
fn forbid_fragments(socket: &std::net::UdpSocket, remote: SocketAddr) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match remote {
        SocketAddr::V4(_) => rustix::net::sockopt::set_ip_mtu_discover(
            socket,
            rustix::net::sockopt::Ipv4PathMtuDiscovery::PROBE,
        )?,
        SocketAddr::V6(_) => rustix::net::sockopt::set_ipv6_mtu_discover(
            socket,
            rustix::net::sockopt::Ipv6PathMtuDiscovery::PROBE,
        )?,
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (socket, remote);
    Ok(())
}

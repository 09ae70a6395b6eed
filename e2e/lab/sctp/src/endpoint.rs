//! All associations of one SCTP endpoint, without I/O: packets and the time go in, packets and
//! states come out. It keeps no state for an INIT, as RFC 9260 section 5.1 asks.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::task::Waker;
use std::time::Duration;

use dcsctp::api::{
    DcSctpSocket, ErrorKind, Message, Options, PpId, SendOptions, SocketEvent, SocketTime, StreamId,
};

use crate::packet::{self, Chunk, Header};

/// RFC 3436 section 4.2: the longest user message that TLS over SCTP needs.
const MAX_MESSAGE_BYTES: usize = 18_437;
/// One bidirectional stream, ordered (RFC 3436 section 4).
const STREAM: StreamId = StreamId(0);
const NO_PROTOCOL: PpId = PpId(0);
/// IANA's dynamic ports.
const EPHEMERAL_PORTS: std::ops::RangeInclusive<u16> = 49_152..=65_535;

/// Identifies an association of an endpoint.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Key {
    /// With the UDP port of RFC 6951, or 0 directly over IP.
    pub address: SocketAddr,
    pub peer_port: u16,
    pub local_port: u16,
}

/// How an association ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// By SHUTDOWN.
    Closed,
    /// By ABORT from the peer.
    Reset,
    /// After the last retransmission.
    TimedOut,
    Failed(String),
}

struct Association {
    socket: Box<dyn DcSctpSocket>,
    created: Duration,
    /// Its entry in `timeouts`.
    timeout: Option<Duration>,
    answered: bool,
    connected: bool,
    end: Option<End>,
    /// Whether a stream refers to it; afterwards it only completes its shutdown.
    held: bool,
    waker: Option<Waker>,
}

pub struct Endpoint {
    options: Options,
    /// Ports that accept associations.
    listening: Vec<u16>,
    associations: HashMap<Key, Association>,
    timeouts: BTreeSet<(Duration, Key)>,
    accepted: VecDeque<Key>,
    accept_waker: Option<Waker>,
    outgoing: VecDeque<(SocketAddr, Vec<u8>)>,
    last_port: u16,
}

impl Endpoint {
    /// `options` apply to every association, except its ports.
    pub fn new(options: Options, listening: Vec<u16>) -> Self {
        Self {
            options,
            listening,
            associations: HashMap::new(),
            timeouts: BTreeSet::new(),
            accepted: VecDeque::new(),
            accept_waker: None,
            outgoing: VecDeque::new(),
            last_port: fastrand::u16(EPHEMERAL_PORTS),
        }
    }

    /// Sends an INIT from a port that is free towards that peer.
    pub fn connect(&mut self, now: Duration, address: SocketAddr, peer_port: u16) -> Key {
        let key = loop {
            self.last_port = self
                .last_port
                .checked_add(1)
                .unwrap_or(*EPHEMERAL_PORTS.start());
            let key = Key {
                address,
                peer_port,
                local_port: self.last_port,
            };
            if !self.associations.contains_key(&key) {
                break key;
            }
        };
        let mut socket = self.socket(&key);
        socket.connect();
        self.insert(now, key, socket);
        self.settle(now, key);
        key
    }

    /// An arrived packet, without the headers of IP and UDP.
    pub fn handle(&mut self, now: Duration, from: SocketAddr, packet: &[u8]) {
        let Some(header) = packet::parse(packet) else {
            return;
        };
        let key = Key {
            address: from,
            peer_port: header.source_port,
            local_port: header.destination_port,
        };
        let Some(association) = self.associations.get_mut(&key) else {
            return self.handle_unknown(now, key, &header, packet);
        };
        association.answered |= header.first == Chunk::InitAck;
        association.socket.advance_time(association.time(now));
        association.socket.handle_input(packet);
        self.settle(now, key);
    }

    fn handle_unknown(&mut self, now: Duration, key: Key, header: &Header, packet: &[u8]) {
        let listens = self.listening.contains(&key.local_port);
        // Directly over IP every process of the host gets all packets: those for ports of others
        // are theirs.
        let connects = self.listening.is_empty() && EPHEMERAL_PORTS.contains(&key.local_port);
        if !listens && !connects {
            return;
        }
        match header.first {
            Chunk::Init if listens => {
                // All that it has to remember is in the cookie.
                let mut socket = self.socket(&key);
                socket.handle_input(packet);
                while let Some(event) = socket.poll_event() {
                    if let SocketEvent::SendPacket(reply) = event {
                        self.outgoing.push_back((key.address, reply));
                    }
                }
            }
            Chunk::CookieEcho if listens => {
                let mut socket = self.socket(&key);
                socket.handle_input(packet);
                self.insert(now, key, socket);
                self.settle(now, key);
                // One with an invalid cookie leaves nothing behind.
                if self.associations.get(&key).is_some_and(|one| one.connected) {
                    self.accepted.push_back(key);
                    wake(&mut self.accept_waker);
                } else {
                    self.remove(&key);
                }
            }
            _ if packet::is_intact(packet) => {
                if let Some(reply) = packet::out_of_the_blue(header) {
                    self.outgoing.push_back((key.address, reply));
                }
            }
            _ => {}
        }
    }

    /// Lets everything happen that is due.
    pub fn expire(&mut self, now: Duration) {
        while let Some(&(at, key)) = self.timeouts.first()
            && at <= now
        {
            if let Some(association) = self.associations.get_mut(&key) {
                association.socket.advance_time(association.time(now));
            }
            self.settle(now, key);
        }
    }

    pub fn next_timeout(&self) -> Option<Duration> {
        self.timeouts.first().map(|(at, _)| *at)
    }

    pub fn next_outgoing(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.outgoing.pop_front()
    }

    /// How many associations it has, including those that nobody uses any longer.
    pub fn associations(&self) -> usize {
        self.associations.len()
    }

    /// An association that a peer has established; if there is none, the waker is kept.
    pub fn accept(&mut self, waker: &Waker) -> Option<Key> {
        let key = self.accepted.pop_front();
        if key.is_none() {
            self.accept_waker = Some(waker.clone());
        }
        key
    }

    /// Whether the peer has answered, by INIT ACK.
    pub fn is_answered(&self, key: &Key) -> bool {
        self.associations.get(key).is_some_and(|one| one.answered)
    }

    pub fn is_connected(&self, key: &Key) -> bool {
        self.associations.get(key).is_some_and(|one| one.connected)
    }

    pub fn end(&self, key: &Key) -> Option<End> {
        match self.associations.get(key) {
            Some(association) => association.end.clone(),
            None => Some(End::Closed),
        }
    }

    /// Is woken at the next change.
    pub fn watch(&mut self, key: &Key, waker: &Waker) {
        if let Some(association) = self.associations.get_mut(key) {
            association.waker = Some(waker.clone());
        }
    }

    /// The next user message.
    pub fn read(&mut self, key: &Key) -> Option<Vec<u8>> {
        let association = self.associations.get_mut(key)?;
        Some(association.socket.get_next_message()?.payload)
    }

    /// Sends the beginning of `bytes` as one user message and returns its length.
    pub fn write(&mut self, now: Duration, key: Key, bytes: &[u8]) -> io::Result<usize> {
        let Some(association) = self.associations.get_mut(&key) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let length = bytes.len().min(MAX_MESSAGE_BYTES);
        let message = Message::new(STREAM, NO_PROTOCOL, bytes[..length].to_vec());
        association.socket.advance_time(association.time(now));
        let sent = association.socket.send(message, &SendOptions::default());
        self.settle(now, key);
        match sent {
            Ok(()) => Ok(length),
            Err(error) => Err(io::Error::new(io::ErrorKind::BrokenPipe, error)),
        }
    }

    /// Sends what is queued, then SHUTDOWN.
    pub fn shutdown(&mut self, now: Duration, key: Key) {
        if let Some(association) = self.associations.get_mut(&key) {
            association.socket.advance_time(association.time(now));
            association.socket.shutdown();
            self.settle(now, key);
        }
    }

    /// Nobody uses it any longer: it completes its shutdown if that has begun, otherwise it is
    /// aborted.
    pub fn release(&mut self, now: Duration, key: Key, shutting_down: bool) {
        let Some(association) = self.associations.get_mut(&key) else {
            return;
        };
        association.held = false;
        if !shutting_down && association.end.is_none() {
            association.socket.advance_time(association.time(now));
            // Before an INIT ACK there is nobody to abort: it is aborted when it arrives.
            association.socket.close();
            association.end = Some(End::Closed);
        }
        self.settle(now, key);
    }

    fn socket(&self, key: &Key) -> Box<dyn DcSctpSocket> {
        let options = Options {
            local_port: key.local_port,
            remote_port: key.peer_port,
            ..self.options.clone()
        };
        dcsctp::new_socket("", &options)
    }

    fn insert(&mut self, now: Duration, key: Key, socket: Box<dyn DcSctpSocket>) {
        let association = Association {
            socket,
            created: now,
            timeout: None,
            answered: false,
            connected: false,
            end: None,
            held: true,
            waker: None,
        };
        self.associations.insert(key, association);
    }

    fn remove(&mut self, key: &Key) {
        if let Some(Association {
            timeout: Some(at), ..
        }) = self.associations.remove(key)
        {
            self.timeouts.remove(&(at, *key));
        }
    }

    /// Takes over what an association has to send and to tell, and its next time-out.
    fn settle(&mut self, now: Duration, key: Key) {
        let Some(association) = self.associations.get_mut(&key) else {
            return;
        };
        while let Some(event) = association.socket.poll_event() {
            match event {
                SocketEvent::SendPacket(packet) => self.outgoing.push_back((key.address, packet)),
                SocketEvent::OnConnected() => association.connected = true,
                SocketEvent::OnClosed() => association.end = Some(End::Closed),
                SocketEvent::OnAborted(kind, text) => {
                    association.end = Some(match kind {
                        ErrorKind::PeerReported => End::Reset,
                        ErrorKind::TooManyRetries => End::TimedOut,
                        _ => End::Failed(text),
                    });
                }
                _ => {}
            }
        }
        wake(&mut association.waker);
        let finished = association.end.is_some();
        if finished && !association.held {
            return self.remove(&key);
        }
        let next = association.socket.poll_timeout();
        let due = (!finished && next != SocketTime::infinite_future())
            .then(|| association.created + (next - SocketTime::zero()))
            // One that is overdue must not be due for ever at the same moment.
            .map(|at| at.max(now));
        if due != association.timeout {
            let earlier = std::mem::replace(&mut association.timeout, due);
            if let Some(at) = earlier {
                self.timeouts.remove(&(at, key));
            }
            if let Some(at) = due {
                self.timeouts.insert((at, key));
            }
        }
    }
}

impl Association {
    fn time(&self, now: Duration) -> SocketTime {
        SocketTime::zero() + now.saturating_sub(self.created)
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;

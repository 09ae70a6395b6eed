//! The transports, and one connection over any of them: dropped before it was kept, it is reset.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::association::Association;
use crate::carrier::{Below, Carrier, SCTP};

#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// The kernel's.
    Tcp,
    /// Over UDP (RFC 6951).
    SctpUdp,
    /// Directly over IP, in user space.
    Sctp,
    /// The kernel's.
    SctpKernel,
}

/// A server's transport and address.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Candidate {
    pub transport: Transport,
    pub address: IpAddr,
}

/// A server's port for SCTP over UDP (RFC 6951 section 6.1).
pub const ENCAPSULATION_PORT: u16 = 9899;
const BACKLOG: i32 = 4096;

/// The kernel's stream socket.
fn stream_socket(transport: Transport, address: IpAddr) -> io::Result<Socket> {
    let protocol = match transport {
        Transport::SctpKernel => Protocol::from(SCTP),
        _ => Protocol::TCP,
    };
    let domain = Domain::for_address(SocketAddr::new(address, 0));
    let socket = Socket::new(domain, Type::STREAM, Some(protocol))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// A listener of the kernel's TCP or SCTP.
pub fn listen(transport: Transport, address: IpAddr, port: u16) -> io::Result<TcpListener> {
    let socket = stream_socket(transport, address)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::new(address, port).into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// A connection, over whichever transport.
pub enum Connection {
    Stream(TcpStream),
    Association(Association),
}

impl Connection {
    /// It will be closed in order, not reset.
    pub fn keep(&self) -> io::Result<()> {
        match self {
            Self::Stream(stream) => SockRef::from(stream).set_linger(None),
            Self::Association(_) => Ok(()),
        }
    }
}

/// The client's sockets: one for all associations of each transport and family.
pub struct Dialler {
    carriers: HashMap<(Transport, bool), Rc<Carrier>>,
    port: u16,
    encapsulation_port: u16,
}

impl Dialler {
    /// For servers at these candidates; the last is the server's port for SCTP over UDP.
    pub async fn open(
        candidates: impl Iterator<Item = Candidate>,
        port: u16,
        encapsulation_port: u16,
    ) -> io::Result<Self> {
        let mut carriers = HashMap::new();
        for Candidate { transport, address } in candidates {
            let below = match transport {
                Transport::SctpUdp => Below::Udp(0),
                Transport::Sctp => Below::Ip,
                Transport::Tcp | Transport::SctpKernel => continue,
            };
            if let Entry::Vacant(missing) = carriers.entry((transport, address.is_ipv6())) {
                missing.insert(Carrier::towards(below, address).await?);
            }
        }
        Ok(Self {
            carriers,
            port,
            encapsulation_port,
        })
    }

    /// Connects; `answered` is called at the first answer, SYN ACK or INIT ACK.
    pub async fn connect(
        &self,
        Candidate { transport, address }: Candidate,
        answered: impl FnOnce(),
    ) -> io::Result<Connection> {
        let Some(carrier) = self.carriers.get(&(transport, address.is_ipv6())) else {
            let stream = connect_stream(transport, address, self.port).await?;
            answered();
            return Ok(Connection::Stream(stream));
        };
        let below_port = match transport {
            Transport::SctpUdp => self.encapsulation_port,
            _ => 0,
        };
        let association = carrier.connect(SocketAddr::new(address, below_port), self.port);
        association.answered().await?;
        answered();
        association.established().await?;
        Ok(Connection::Association(association))
    }

    /// Packets that the kernel did not take.
    pub fn dropped(&self) -> u64 {
        self.carriers.values().map(|one| one.dropped()).sum()
    }

    /// Waits until every association has ended, at most for that long.
    pub async fn drain(&self, longest: Duration) {
        const POLL: Duration = Duration::from_millis(5);
        let ended = async {
            while self.carriers.values().any(|one| one.associations() > 0) {
                tokio::time::sleep(POLL).await;
            }
        };
        let _ = tokio::time::timeout(longest, ended).await;
    }
}

async fn connect_stream(transport: Transport, address: IpAddr, port: u16) -> io::Result<TcpStream> {
    let socket = stream_socket(transport, address)?;
    // Until it is kept.
    socket.set_linger(Some(Duration::ZERO))?;
    if transport == Transport::Tcp {
        socket.set_tcp_nodelay(true)?;
    }
    TcpSocket::from_std_stream(socket.into())
        .connect(SocketAddr::new(address, port))
        .await
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Stream(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Association(association) => Pin::new(association).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Stream(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Association(association) => Pin::new(association).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Stream(stream) => Pin::new(stream).poll_flush(context),
            Self::Association(association) => Pin::new(association).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Stream(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Association(association) => Pin::new(association).poll_shutdown(context),
        }
    }
}

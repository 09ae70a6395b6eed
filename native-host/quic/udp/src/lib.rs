//! UDP sockets connected to one peer: the kernel then drops what others send to the port, keeps ICMP errors for the
//! socket, and has chosen the source address.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let peer = std::net::UdpSocket::bind("127.0.0.1:0")?.local_addr()?; // Closed by now.
//! let socket = tokio::net::UdpSocket::from_std(photofinish_udp::connect(peer)?)?;
//! socket.send(b"anybody there?").await?;
//! let error = photofinish_udp::pending_error(&socket).await;
//! assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
//! # Ok(())
//! # }
//! ```

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use tokio::io::Interest;

/// A socket on an ephemeral port that sends to `peer` and receives from it alone. It does not block, as tokio wants it.
pub fn connect(peer: SocketAddr) -> io::Result<UdpSocket> {
    let any: IpAddr = match peer {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    connect_from(SocketAddr::new(any, 0), peer)
}

/// The same on an address and port of the caller's choice.
pub fn connect_from(local: SocketAddr, peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(local)?;
    socket.connect(peer)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// The error that the kernel keeps for a connected socket, ICMP refusals above all. It raises neither readability nor
/// writability, hence the interest of its own.
pub async fn pending_error(socket: &tokio::net::UdpSocket) -> io::Error {
    loop {
        if let Err(error) = socket.ready(Interest::ERROR).await {
            return error;
        }
        let error = socket.try_io(Interest::ERROR, || {
            let error = socket.take_error()?;
            error.ok_or_else(|| io::ErrorKind::WouldBlock.into())
        });
        if let Ok(error) = error {
            return error;
        }
    }
}

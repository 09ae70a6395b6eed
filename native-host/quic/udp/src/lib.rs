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
    let connected = socket.connect(peer);
    connected.map_err(|error| path_error(error, peer))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// What an error of connecting or sending to `peer` says of the path there. Linux reports a blackhole route as EINVAL,
/// as if the call were wrong, although the routes `unreachable` and `prohibit` have errors of their own (ip-route(8)); and
/// so it reports a link-local address without its zone, which belongs to no network then (RFC 4007 section 6).
pub fn path_error(error: io::Error, peer: SocketAddr) -> io::Error {
    let is_invalid = cfg!(target_os = "linux") && error.kind() == io::ErrorKind::InvalidInput;
    match (is_invalid, lacks_zone(peer)) {
        (false, _) => error,
        (true, false) => io::Error::new(
            io::ErrorKind::HostUnreachable,
            "a blackhole route of this machine discards what is sent there",
        ),
        (true, true) => io::Error::new(
            io::ErrorKind::NetworkUnreachable,
            "a link-local address does not say on which interface it is",
        ),
    }
}

fn lacks_zone(peer: SocketAddr) -> bool {
    matches!(peer, SocketAddr::V6(peer) if peer.ip().is_unicast_link_local() && peer.scope_id() == 0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_blackhole_route_is_told_as_one() {
        let invalid = || io::Error::from_raw_os_error(22);
        for peer in ["192.0.2.1:443", "[2001:db8::1]:443", "[fe80::1%2]:443"] {
            let error = path_error(invalid(), peer.parse().expect("address"));
            assert_eq!(error.kind(), io::ErrorKind::HostUnreachable, "{peer}");
        }
        let zoneless = path_error(invalid(), "[fe80::1]:443".parse().expect("address"));
        assert_eq!(zoneless.kind(), io::ErrorKind::NetworkUnreachable);
        assert!(zoneless.to_string().contains("link-local"), "{zoneless}");
    }

    #[test]
    fn other_errors_are_the_systems() {
        let error = io::ErrorKind::NetworkUnreachable.into();
        let error = path_error(error, "192.0.2.1:443".parse().expect("address"));
        assert_eq!(error.kind(), io::ErrorKind::NetworkUnreachable);
    }
}

//! The machine's own address for a destination, needed for RFC 6724 address selection.

use std::net::{IpAddr, SocketAddr};

/// Any port works, because nothing is sent.
const DISCARD_PORT: u16 = 9;

/// The source address that the system would use for `destination`; `None`: no route. Connecting a datagram socket
/// queries the routing table and sends nothing.
pub fn source_for(destination: IpAddr) -> Option<IpAddr> {
    let socket = photofinish_udp::connect(SocketAddr::new(destination, DISCARD_PORT)).ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|source| !source.is_unspecified())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    #[test]
    fn loopback_is_reached_from_loopback() {
        let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
        assert_eq!(source_for(loopback), Some(loopback));
        let loopback6 = IpAddr::from(Ipv6Addr::LOCALHOST);
        // A kernel without IPv6 has no route there.
        assert!(source_for(loopback6).is_none_or(|source| source == loopback6));
    }
}

//! Which transport protocol and address family an IP packet has.

use serde::Deserialize;

/// IANA protocol numbers.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Offset of the next protocol in the header: RFC 791 section 3.1, RFC 8200 section 3.
const IPV4_PROTOCOL_AT: usize = 9;
const IPV6_NEXT_HEADER_AT: usize = 6;

#[derive(Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    Udp,
    Tcp,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(try_from = "u8")]
pub enum Family {
    Ipv4,
    Ipv6,
}

impl TryFrom<u8> for Family {
    type Error = String;

    fn try_from(version: u8) -> Result<Self, String> {
        match version {
            4 => Ok(Family::Ipv4),
            6 => Ok(Family::Ipv6),
            other => Err(format!("{other} is no family")),
        }
    }
}

/// The packet's transport and family; `None` unless UDP or TCP directly follows the IP header.
pub fn carried(packet: &[u8]) -> Option<(Transport, Family)> {
    let family = Family::try_from(packet.first()? >> 4).ok()?;
    let at = match family {
        Family::Ipv4 => IPV4_PROTOCOL_AT,
        Family::Ipv6 => IPV6_NEXT_HEADER_AT,
    };
    match *packet.get(at)? {
        TCP => Some((Transport::Tcp, family)),
        UDP => Some((Transport::Udp, family)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning of a header, as far as it is read.
    fn packet(version: u8, at: usize, protocol: u8) -> Vec<u8> {
        let mut packet = vec![0; 20];
        packet[0] = version << 4 | 5;
        packet[at] = protocol;
        packet
    }

    #[test]
    fn both_transports_are_told_in_both_families() {
        use {Family::*, Transport::*};
        assert_eq!(carried(&packet(4, 9, 17)), Some((Udp, Ipv4)));
        assert_eq!(carried(&packet(4, 9, 6)), Some((Tcp, Ipv4)));
        assert_eq!(carried(&packet(6, 6, 17)), Some((Udp, Ipv6)));
        assert_eq!(carried(&packet(6, 6, 6)), Some((Tcp, Ipv6)));
    }

    #[test]
    fn anything_else_is_nothing() {
        assert_eq!(carried(&[]), None);
        assert_eq!(carried(&[0x45]), None);
        assert_eq!(carried(&packet(5, 9, 17)), None);
        assert_eq!(carried(&packet(4, 9, 1)), None);
        assert_eq!(carried(&packet(6, 6, 58)), None);
    }
}

//! What must be known of an SCTP packet that belongs to no association, and the responses to it
//! (RFC 9260 sections 3 and 8.4).

const HEADER_BYTES: usize = 12;
const CHUNK_HEADER_BYTES: usize = 4;

/// The type of a packet's first chunk, as far as it matters here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Chunk {
    Init,
    InitAck,
    Abort,
    ShutdownAck,
    CookieEcho,
    /// Never answered outside of an association.
    Silent,
    Other,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    pub source_port: u16,
    pub destination_port: u16,
    pub verification_tag: u32,
    pub first: Chunk,
}

/// Null if it is too short for a header and a chunk.
pub fn parse(packet: &[u8]) -> Option<Header> {
    if packet.len() < HEADER_BYTES + CHUNK_HEADER_BYTES {
        return None;
    }
    let [a, b, c, d, tag @ ..] = packet.first_chunk::<8>()?;
    Some(Header {
        source_port: u16::from_be_bytes([*a, *b]),
        destination_port: u16::from_be_bytes([*c, *d]),
        verification_tag: u32::from_be_bytes(*tag),
        first: match packet[HEADER_BYTES] {
            1 => Chunk::Init,
            2 => Chunk::InitAck,
            6 => Chunk::Abort,
            8 => Chunk::ShutdownAck,
            10 => Chunk::CookieEcho,
            // ERROR, COOKIE ACK, SHUTDOWN COMPLETE.
            9 | 11 | 14 => Chunk::Silent,
            _ => Chunk::Other,
        },
    })
}

/// Whether the checksum is right; a packet without an association has nobody else to check it.
pub fn is_intact(packet: &[u8]) -> bool {
    let Some((head, body)) = packet.split_at_checked(HEADER_BYTES) else {
        return false;
    };
    crc32c([&head[..8], &[0; 4], body]).to_le_bytes() == head[8..]
}

/// The response to a packet that belongs to no association: ABORT, or SHUTDOWN COMPLETE to a
/// SHUTDOWN ACK, with the packet's own tag; null if it must not be answered.
pub fn out_of_the_blue(header: &Header) -> Option<Vec<u8>> {
    const ABORT: u8 = 6;
    const SHUTDOWN_COMPLETE: u8 = 14;
    /// The verification tag is the receiver's own, reflected.
    const TAG_REFLECTED: u8 = 1;
    let chunk = match header.first {
        // Its sender expects the tag that the packet announces, and tries again without an answer.
        Chunk::Init | Chunk::Abort | Chunk::Silent => return None,
        Chunk::ShutdownAck => SHUTDOWN_COMPLETE,
        Chunk::InitAck | Chunk::CookieEcho | Chunk::Other => ABORT,
    };
    let mut packet = Vec::with_capacity(HEADER_BYTES + CHUNK_HEADER_BYTES);
    packet.extend(header.destination_port.to_be_bytes());
    packet.extend(header.source_port.to_be_bytes());
    packet.extend(header.verification_tag.to_be_bytes());
    packet.extend([0; 4]);
    packet.extend([chunk, TAG_REFLECTED, 0, CHUNK_HEADER_BYTES as u8]);
    let checksum = crc32c([&packet]).to_le_bytes();
    packet[8..HEADER_BYTES].copy_from_slice(&checksum);
    Some(packet)
}

/// CRC32c (RFC 9260 appendix A).
fn crc32c<'a>(parts: impl IntoIterator<Item = &'a (impl AsRef<[u8]> + ?Sized + 'a)>) -> u32 {
    let bytes = parts.into_iter().flat_map(|part| part.as_ref());
    !bytes.fold(!0, |crc, byte| {
        CRC_TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8)
    })
}

const CRC_TABLE: [u32; 256] = {
    /// Castagnoli's polynomial, reflected.
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = index as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (POLYNOMIAL * (crc & 1));
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_castagnoli_s() {
        // The check value of CRC-32C in the catalogue of parametrised CRC algorithms.
        assert_eq!(crc32c([b"123456789"]), 0xe306_9283);
    }

    #[test]
    fn a_late_init_ack_is_aborted_with_its_own_tag() {
        let init_ack = Header {
            source_port: 80,
            destination_port: 40_000,
            verification_tag: 7,
            first: Chunk::InitAck,
        };
        let abort = out_of_the_blue(&init_ack).expect("an answer");
        assert!(is_intact(&abort));
        assert_eq!(
            parse(&abort),
            Some(Header {
                source_port: 40_000,
                destination_port: 80,
                verification_tag: 7,
                first: Chunk::Abort,
            })
        );
        assert_eq!(abort[13], 1, "the tag is reflected");
    }

    #[test]
    fn an_abort_is_never_answered() {
        for first in [Chunk::Abort, Chunk::Silent] {
            let header = Header {
                source_port: 1,
                destination_port: 2,
                verification_tag: 3,
                first,
            };
            assert_eq!(out_of_the_blue(&header), None);
        }
    }

    #[test]
    fn short_and_damaged_packets_are_told() {
        assert_eq!(parse(&[0; 15]), None);
        assert!(!is_intact(&[0; 3]));
        let mut packet = out_of_the_blue(&Header {
            source_port: 1,
            destination_port: 2,
            verification_tag: 3,
            first: Chunk::Other,
        })
        .expect("an answer");
        packet[5] ^= 1;
        assert!(!is_intact(&packet));
    }
}

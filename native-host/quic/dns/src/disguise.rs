//! Protects HTTPS records from hickory's parser, which is too strict in one place (an ALPN identifier that is not UTF-8
//! invalidates the whole answer, although identifiers are any octets) and too lenient in another (a `port` of three
//! octets). Inside hickory they have a type that it does not know and whose data it leaves unchanged. The type numbers
//! are swapped in place where messages enter and leave; nothing else in a message changes.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};
use hickory_resolver::net::runtime::DnsTcpStream;
use hickory_resolver::proto::rr::RecordType;

/// HTTPS (RFC 9460 section 14.1).
const HTTPS: u16 = 65;
/// From the private use range (RFC 6895 section 3.1).
const DISGUISE: u16 = 65_300;
/// The type of HTTPS records inside hickory.
pub(crate) const DISGUISED: RecordType = RecordType::Unknown(DISGUISE);

const HEADER: usize = 12;
/// The two high bits of a pointer (RFC 1035 section 4.1.4).
const POINTER: u8 = 0xc0;

/// Swaps the two types in every question and record. The rest of a truncated or malformed message is unchanged, and
/// hickory refuses it.
pub(crate) fn swap_types(message: &mut [u8]) {
    let _ = swap_all(message);
}

fn swap_all(message: &mut [u8]) -> Option<()> {
    let questions = u16_at(message, 4)?;
    let records = [6, 8, 10]
        .into_iter()
        .map(|at| u16_at(message, at).map(u32::from))
        .sum::<Option<u32>>()?;
    let mut at = HEADER;
    for _ in 0..questions {
        at = after_name(message, at)?;
        swap(message, at)?;
        at += 4;
    }
    for _ in 0..records {
        at = after_name(message, at)?;
        swap(message, at)?;
        // Type, class and TTL, then the length of the data.
        at += 8;
        at += 2 + usize::from(u16_at(message, at)?);
    }
    Some(())
}

fn u16_at(message: &[u8], at: usize) -> Option<u16> {
    let bytes = message.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

fn after_name(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            length if length & POINTER == POINTER => return Some(at + 2),
            length => at += 1 + usize::from(length),
        }
    }
}

fn swap(message: &mut [u8], at: usize) -> Option<()> {
    let other = match u16_at(message, at)? {
        HTTPS => DISGUISE,
        DISGUISE => HTTPS,
        _ => return Some(()),
    };
    message[at..at + 2].copy_from_slice(&other.to_be_bytes());
    Some(())
}

/// Collects length-prefixed messages (RFC 1035 section 4.2.2) and swaps their types.
#[derive(Default)]
struct Frames {
    arriving: Vec<u8>,
    whole: VecDeque<u8>,
}

impl Frames {
    fn push(&mut self, bytes: &[u8]) {
        self.arriving.extend_from_slice(bytes);
        while let Some(length) = u16_at(&self.arriving, 0) {
            let end = 2 + usize::from(length);
            if self.arriving.len() < end {
                return;
            }
            swap_types(&mut self.arriving[2..end]);
            self.whole.extend(self.arriving.drain(..end));
        }
    }
}

/// A stream on which every message is swapped.
pub(crate) struct DisguisedStream<S> {
    stream: S,
    inbound: Frames,
    outbound: Frames,
}

impl<S> DisguisedStream<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            inbound: Frames::default(),
            outbound: Frames::default(),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for DisguisedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        while this.inbound.whole.is_empty() {
            let mut bytes = [0; 4096];
            let length = ready!(Pin::new(&mut this.stream).poll_read(cx, &mut bytes))?;
            if length == 0 {
                return Poll::Ready(Ok(0));
            }
            this.inbound.push(&bytes[..length]);
        }
        Poll::Ready(io::Read::read(&mut this.inbound.whole, buf))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for DisguisedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.outbound.push(buf);
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while !this.outbound.whole.is_empty() {
            let (bytes, _) = this.outbound.whole.as_slices();
            let written = ready!(Pin::new(&mut this.stream).poll_write(cx, bytes))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            this.outbound.whole.drain(..written);
        }
        Pin::new(&mut this.stream).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(cx))?;
        Pin::new(&mut self.stream).poll_close(cx)
    }
}

impl<S: DnsTcpStream> DnsTcpStream for DisguisedStream<S> {
    type Time = S::Time;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A question for HTTPS of `a.test`, and an HTTPS record and an A record behind a pointer to it.
    fn message() -> Vec<u8> {
        let mut bytes = vec![0, 7, 0x81, 0x80, 0, 1, 0, 2, 0, 0, 0, 0];
        bytes.extend_from_slice(b"\x01a\x04test\x00\x00\x41\x00\x01");
        bytes.extend_from_slice(&[0xc0, 12, 0, 65, 0, 1, 0, 0, 0, 60, 0, 3, 0, 1, 0]);
        bytes.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 0, 65, 0, 65]);
        bytes
    }

    #[test]
    fn types_are_swapped_and_nothing_else_and_swapped_back() {
        let original = message();
        let mut swapped = original.clone();
        swap_types(&mut swapped);
        let changed: Vec<usize> = (0..original.len())
            .filter(|&at| original[at] != swapped[at])
            .collect();
        assert_eq!(changed, [20, 21, 26, 27]);
        swap_types(&mut swapped);
        assert_eq!(swapped, original);
    }

    #[test]
    fn a_message_cut_short_anywhere_does_no_harm() {
        let whole = message();
        for end in 0..whole.len() {
            swap_types(&mut whole[..end].to_vec());
        }
    }

    #[test]
    fn frames_leave_whole_however_they_arrive() {
        let mut frame = vec![0, u8::try_from(message().len()).expect("short")];
        frame.extend(message());
        let twice = [frame.clone(), frame].concat();
        let mut expected = Frames::default();
        expected.push(&twice);
        assert_eq!(expected.whole.len(), twice.len());
        let mut frames = Frames::default();
        for (sent, byte) in twice.iter().enumerate() {
            frames.push(&[*byte]);
            assert_eq!(frames.whole.len() % (twice.len() / 2), 0, "{sent}");
        }
        assert_eq!(frames.whole, expected.whole);
    }
}

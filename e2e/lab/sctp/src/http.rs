//! HTTP/1.0 with Keep-Alive, as P1's httperf speaks it: `GET /N` is answered with N bytes.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const MAX_HEAD_BYTES: usize = 8192;
const MAX_BODY_BYTES: usize = 1 << 20;
const END_OF_HEAD: &[u8] = b"\r\n\r\n";
/// A TLS record's.
const READ_BYTES: usize = 16 << 10;

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The size that a request asks for; null for anything else.
pub fn requested_bytes(head: &str) -> Option<usize> {
    let mut words = head.lines().next()?.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    let bytes = path.strip_prefix('/')?.parse().ok()?;
    (method == "GET" && bytes <= MAX_BODY_BYTES).then_some(bytes)
}

/// HTTP/1.0 closes a connection unless the client asks for another request on it.
pub fn keeps_alive(head: &str) -> bool {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .any(|(name, value)| {
            name.eq_ignore_ascii_case("connection")
                && value.trim().eq_ignore_ascii_case("keep-alive")
        })
}

/// The declared length of a successful response; null for any other.
pub fn declared_bytes(head: &str) -> Option<usize> {
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?;
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    length.filter(|_| status == "200")
}

/// What has arrived and not been used.
#[derive(Default)]
struct Inbox {
    bytes: Vec<u8>,
}

impl Inbox {
    /// Null at the end of the stream.
    async fn head(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<String>> {
        loop {
            let end = self
                .bytes
                .windows(END_OF_HEAD.len())
                .position(|window| window == END_OF_HEAD);
            if let Some(end) = end {
                let rest = self.bytes.split_off(end + END_OF_HEAD.len());
                let head = std::mem::replace(&mut self.bytes, rest);
                return Ok(Some(String::from_utf8_lossy(&head).into_owned()));
            }
            if self.bytes.len() > MAX_HEAD_BYTES {
                return Err(malformed("a head without an end"));
            }
            if !self.fill(stream).await? {
                return Ok(None);
            }
        }
    }

    async fn fill(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<bool> {
        self.bytes.reserve(READ_BYTES);
        Ok(stream.read_buf(&mut self.bytes).await? > 0)
    }
}

/// Serves requests until the client ends the connection, or asks for only one.
pub async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let mut inbox = Inbox::default();
    while let Some(head) = inbox.head(&mut stream).await? {
        let response = match requested_bytes(&head) {
            Some(bytes) => {
                let head = format!(
                    "HTTP/1.0 200 OK\r\nContent-Length: {bytes}\r\nConnection: Keep-Alive\r\n\r\n"
                );
                let mut response = head.into_bytes();
                response.resize(response.len() + bytes, b'x');
                response
            }
            None => b"HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
        };
        stream.write_all(&response).await?;
        stream.flush().await?;
        if !keeps_alive(&head) {
            break;
        }
    }
    stream.shutdown().await
}

/// Requests that many bytes and reads them.
pub async fn get(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    host: &str,
    bytes: usize,
) -> io::Result<()> {
    let request =
        format!("GET /{bytes} HTTP/1.0\r\nHost: {host}\r\nConnection: Keep-Alive\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    stream.flush().await?;
    let mut inbox = Inbox::default();
    let head = inbox.head(stream).await?;
    let declared = declared_bytes(&head.ok_or(io::ErrorKind::UnexpectedEof)?)
        .ok_or_else(|| malformed("no successful response"))?;
    if declared != bytes {
        return Err(malformed("another length than requested"));
    }
    while inbox.bytes.len() < declared {
        if !inbox.fill(stream).await? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

/// Sends that many bytes to a server that returns them, and compares.
pub async fn echo(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    bytes: usize,
) -> io::Result<()> {
    let sent: Vec<u8> = (0..=u8::MAX).cycle().take(bytes).collect();
    stream.write_all(&sent).await?;
    stream.flush().await?;
    let mut got = vec![0; bytes];
    stream.read_exact(&mut got).await?;
    if got == sent {
        Ok(())
    } else {
        Err(malformed("other bytes than sent"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_get_of_a_size_is_answered() {
        assert_eq!(requested_bytes("GET /1024 HTTP/1.0\r\n\r\n"), Some(1024));
        for head in [
            "GET / HTTP/1.0",
            "POST /1 HTTP/1.0",
            "GET /9999999 HTTP/1.0",
            "",
        ] {
            assert_eq!(requested_bytes(head), None, "{head}");
        }
    }

    #[test]
    fn a_connection_is_kept_only_if_that_is_asked_for() {
        assert!(keeps_alive(
            "GET /1 HTTP/1.0\r\nconnection: Keep-Alive\r\n\r\n"
        ));
        assert!(!keeps_alive("GET /1 HTTP/1.0\r\nConnection: close\r\n\r\n"));
        assert!(!keeps_alive("GET /1 HTTP/1.0\r\n\r\n"));
    }

    #[test]
    fn only_a_successful_response_declares_its_length() {
        let ok = "HTTP/1.0 200 OK\r\ncontent-length: 7\r\n\r\n";
        assert_eq!(declared_bytes(ok), Some(7));
        assert_eq!(declared_bytes(&ok.replace("200 OK", "404 No")), None);
        assert_eq!(declared_bytes("HTTP/1.0 200 OK\r\n\r\n"), None);
    }

    #[tokio::test]
    async fn several_requests_on_one_connection() {
        let (mut client, server) = tokio::io::duplex(4096);
        let serving = tokio::spawn(serve(server));
        for bytes in [0, 1024, 35_840] {
            get(&mut client, "server.test", bytes)
                .await
                .expect("a response");
        }
        drop(client);
        serving.await.expect("no panic").expect("served to the end");
    }

    #[tokio::test]
    async fn a_changed_byte_is_noticed() {
        let (mut client, mut server) = tokio::io::duplex(4096);
        let changing = tokio::spawn(async move {
            let mut bytes = [0; 100];
            server.read_exact(&mut bytes).await.expect("read");
            bytes[50] ^= 1;
            server.write_all(&bytes).await.expect("written");
        });
        let told = echo(&mut client, 100).await.expect_err("noticed");
        assert_eq!(told.kind(), io::ErrorKind::InvalidData);
        changing.await.expect("no panic");
    }
}

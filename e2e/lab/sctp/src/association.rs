//! An association as a byte stream.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::carrier::Carrier;
use crate::endpoint::{End, Endpoint, Key};

/// Stream 0 of an association; dropped before its shutdown, it is aborted.
pub struct Association {
    carrier: Rc<Carrier>,
    key: Key,
    shutting_down: bool,
    /// A message of which some has been read.
    rest: Vec<u8>,
    read: usize,
}

impl Association {
    pub(crate) const fn new(carrier: Rc<Carrier>, key: Key) -> Self {
        Self {
            carrier,
            key,
            shutting_down: false,
            rest: Vec::new(),
            read: 0,
        }
    }

    /// The SCTP port.
    pub const fn local_port(&self) -> u16 {
        self.key.local_port
    }

    /// Until the peer has answered, by INIT ACK.
    pub async fn answered(&self) -> io::Result<()> {
        self.wait(Endpoint::is_answered).await
    }

    pub async fn established(&self) -> io::Result<()> {
        self.wait(Endpoint::is_connected).await
    }

    async fn wait(&self, done: impl Fn(&Endpoint, &Key) -> bool) -> io::Result<()> {
        std::future::poll_fn(|context| {
            let mut endpoint = self.carrier.endpoint.borrow_mut();
            if done(&endpoint, &self.key) {
                return Poll::Ready(Ok(()));
            }
            if let Some(end) = endpoint.end(&self.key) {
                return Poll::Ready(Err(error_of(end)));
            }
            endpoint.watch(&self.key, context.waker());
            Poll::Pending
        })
        .await
    }
}

fn error_of(end: End) -> io::Error {
    match end {
        End::Closed => io::ErrorKind::BrokenPipe.into(),
        End::Reset => io::ErrorKind::ConnectionReset.into(),
        End::TimedOut => io::ErrorKind::TimedOut.into(),
        End::Failed(text) => io::Error::other(text),
    }
}

impl AsyncRead for Association {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read == self.rest.len() {
            let key = self.key;
            let message = ready!({
                let mut endpoint = self.carrier.endpoint.borrow_mut();
                match (endpoint.read(&key), endpoint.end(&key)) {
                    (Some(message), _) => Poll::Ready(Ok(message)),
                    (None, Some(End::Closed)) => Poll::Ready(Ok(Vec::new())),
                    (None, Some(end)) => Poll::Ready(Err(error_of(end))),
                    (None, None) => {
                        endpoint.watch(&key, context.waker());
                        Poll::Pending
                    }
                }
            })?;
            self.rest = message;
            self.read = 0;
        }
        let length = buffer.remaining().min(self.rest.len() - self.read);
        buffer.put_slice(&self.rest[self.read..self.read + length]);
        self.read += length;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Association {
    /// Each call sends one user message. TLS passes one record in each, as RFC 3436 asks.
    fn poll_write(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let key = self.key;
        let sent = self
            .carrier
            .with(|endpoint, now| endpoint.write(now, key, bytes));
        Poll::Ready(sent)
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.shutting_down {
            self.shutting_down = true;
            let key = self.key;
            self.carrier
                .with(|endpoint, now| endpoint.shutdown(now, key));
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for Association {
    fn drop(&mut self) {
        let (key, shutting_down) = (self.key, self.shutting_down);
        self.carrier
            .with(|endpoint, now| endpoint.release(now, key, shutting_down));
    }
}

//! Datagram sockets connected to their server: an ICMP refusal then ends the wait at once, and the kernel drops
//! datagrams from others. Swaps the types of HTTPS records in passing.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use async_trait::async_trait;
use hickory_resolver::net::runtime::{
    DnsUdpSocket, RuntimeProvider, TokioHandle, TokioRuntimeProvider, TokioTime,
};
use tokio::io::ReadBuf;
use tokio::net::UdpSocket;

use crate::disguise::{DisguisedStream, swap_types};

type Pending<T> = Pin<Box<dyn Send + Future<Output = io::Result<T>>>>;

/// hickory's Tokio runtime with connected datagram sockets.
#[derive(Clone, Default)]
pub(crate) struct ConnectedRuntime(TokioRuntimeProvider);

pub(crate) struct ConnectedSocket {
    socket: UdpSocket,
    peer: SocketAddr,
}

#[async_trait]
impl DnsUdpSocket for ConnectedSocket {
    type Time = TokioTime;

    fn poll_recv_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        let mut buf = ReadBuf::new(buf);
        ready!(self.socket.poll_recv(cx, &mut buf))?;
        swap_types(buf.filled_mut());
        Poll::Ready(Ok((buf.filled().len(), self.peer)))
    }

    async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        tokio::select! {
            biased;
            received = self.socket.recv(buf) => {
                let length = received?;
                swap_types(&mut buf[..length]);
                Ok((length, self.peer))
            }
            error = photofinish_udp::pending_error(&self.socket) => Err(error),
        }
    }

    fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        _target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        let mut message = buf.to_vec();
        swap_types(&mut message);
        self.socket.poll_send(cx, &message)
    }
}

impl RuntimeProvider for ConnectedRuntime {
    type Handle = TokioHandle;
    type Timer = TokioTime;
    type Udp = ConnectedSocket;
    type Tcp = DisguisedStream<<TokioRuntimeProvider as RuntimeProvider>::Tcp>;

    fn create_handle(&self) -> Self::Handle {
        self.0.create_handle()
    }

    fn connect_tcp(
        &self,
        server: SocketAddr,
        bind: Option<SocketAddr>,
        timeout: Option<Duration>,
    ) -> Pending<Self::Tcp> {
        let connecting = self.0.connect_tcp(server, bind, timeout);
        Box::pin(async move { Ok(DisguisedStream::new(connecting.await?)) })
    }

    fn bind_udp(&self, local: SocketAddr, server: SocketAddr) -> Pending<Self::Udp> {
        Box::pin(async move {
            let socket = photofinish_udp::connect_from(local, server)?;
            Ok(ConnectedSocket {
                socket: UdpSocket::from_std(socket)?,
                peer: server,
            })
        })
    }
}

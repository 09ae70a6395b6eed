//! The endpoint, socket and tasks of one attempt, and their end: one CONNECTION_CLOSE, then nothing. By default quinn
//! would keep socket and tasks for three more probe time-outs (RFC 9000, 10.2).

use std::future::Future;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use h3::error::Code;
use quinn::{AsyncTimer, AsyncUdpSocket, EndpointConfig, Runtime, TokioRuntime, VarInt};
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::options::OnFirstDatagram;
use crate::socket::ProbeSocket;

/// How long the CONNECTION_CLOSE may wait for the socket to accept it.
const CLOSE_LIMIT: Duration = Duration::from_millis(10);

/// Dropping it closes the connection and frees everything at once.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) endpoint: quinn::Endpoint,
    pub(crate) socket: Arc<ProbeSocket>,
    tasks: Arc<DriverTasks>,
    runtime: tokio::runtime::Handle,
    connection: Option<quinn::Connection>,
    close_code: Option<Code>,
}

impl Transport {
    /// A socket connected to `remote` and a client endpoint on it. Call within a tokio runtime.
    pub(crate) fn open(
        remote: SocketAddr,
        clock: Clock,
        on_first_in: Option<OnFirstDatagram>,
    ) -> io::Result<Self> {
        let socket = ProbeSocket::connect(remote, clock, on_first_in)?;
        let tasks = Arc::new(DriverTasks::default());
        let endpoint = quinn::Endpoint::new_with_abstract_socket(
            EndpointConfig::default(),
            None,
            socket.clone(),
            tasks.clone(),
        )?;
        let runtime = tokio::runtime::Handle::current();
        Ok(Self {
            endpoint,
            socket,
            tasks,
            runtime,
            connection: None,
            close_code: Some(Code::H3_NO_ERROR),
        })
    }

    /// Holds the established connection, so that dropping another handle does not close it without a code.
    pub(crate) fn hold(&mut self, connection: quinn::Connection) {
        self.connection = Some(connection);
    }

    /// Sets the error code sent to the peer at the end, by default `H3_NO_ERROR`.
    pub(crate) fn close_with(&mut self, code: Code) {
        self.close_code = Some(code);
    }

    /// The connection is already over: no CONNECTION_CLOSE.
    pub(crate) fn close_silently(&mut self) {
        self.close_code = None;
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        let Some(code) = self.close_code else {
            self.tasks.abort();
            return;
        };
        // `close` only queues; the driver sends the frame in its next turn, and nothing after it.
        let code = VarInt::from_u64(code.value()).unwrap_or(VarInt::from_u32(0));
        match &self.connection {
            Some(connection) => connection.close(code, b""),
            None => self.endpoint.close(code, b""),
        }
        self.socket.expect_close();
        let (socket, tasks) = (self.socket.clone(), self.tasks.clone());
        self.runtime.spawn(async move {
            let _ = tokio::time::timeout(CLOSE_LIMIT, socket.close_sent()).await;
            tasks.abort();
        });
    }
}

/// quinn's tokio runtime, keeping handles of the tasks that quinn starts.
#[derive(Debug, Default)]
struct DriverTasks {
    tasks: Mutex<JoinSet<()>>,
}

impl DriverTasks {
    fn abort(&self) {
        self.tasks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .abort_all();
    }
}

impl Runtime for DriverTasks {
    fn new_timer(&self, at: Instant) -> Pin<Box<dyn AsyncTimer>> {
        TokioRuntime.new_timer(at)
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        self.tasks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .spawn(future);
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        TokioRuntime.wrap_udp_socket(socket)
    }
}

//! The input of an attempt: [`ConnectOptions`] for its handshake, a [`Request`] for what may follow. Both are validated
//! when created.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::uri::{Authority, Scheme};
use http::{HeaderValue, Uri};
use rustls_pki_types::ServerName;

/// `kInitialRtt` (RFC 9002 section 6.2.2).
const INITIAL_RTT: Duration = Duration::from_millis(333);
/// Chromium's interval (`kPingTimeoutSecs`).
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Default time-out of a handshake or an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where to connect, as whom, and how long to try.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    pub(crate) remote: SocketAddr,
    pub(crate) server_name: ServerName<'static>,
    pub(crate) initial_rtt: Duration,
    pub(crate) handshake_timeout: Duration,
    pub(crate) keep_alive: Duration,
    pub(crate) counted_from: Option<Instant>,
    pub(crate) on_first_datagram: Option<OnFirstDatagram>,
}

impl ConnectOptions {
    /// A handshake with `remote`, whose certificate has to name `server_name`.
    pub fn new(remote: SocketAddr, server_name: ServerName<'static>) -> Self {
        Self {
            remote,
            server_name,
            initial_rtt: INITIAL_RTT,
            handshake_timeout: PATIENCE,
            keep_alive: KEEP_ALIVE,
            counted_from: None,
            on_first_datagram: None,
        }
    }

    /// The round-trip time assumed until one is measured: the first retransmission is after three times this (RFC 9002
    /// section 6.2.2). 333 ms by default.
    pub fn initial_rtt(mut self, rtt: Duration) -> Self {
        self.initial_rtt = rtt;
        self
    }

    /// How long the handshake may take. 10 s by default.
    pub fn handshake_timeout(mut self, timeout: Duration) -> Self {
        self.handshake_timeout = timeout;
        self
    }

    /// How long nothing may be received before a PING asks whether the peer is there (RFC 9000 section 10.1.2), so that
    /// no idle time-out ends a request that waits for its response. 15 s by default.
    pub fn keep_alive(mut self, interval: Duration) -> Self {
        self.keep_alive = interval;
        self
    }

    /// Counts every time of the attempt, and its time-out, from this moment instead of from the first poll, so that
    /// waiting for a thread is included.
    pub fn counted_from(mut self, moment: Instant) -> Self {
        self.counted_from = Some(moment);
        self
    }

    /// Calls `listener` once, on the attempt's own task, when the peer first responds. It must not block.
    pub fn on_first_datagram(mut self, listener: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_first_datagram = Some(OnFirstDatagram(Arc::new(listener)));
        self
    }
}

/// Called when the first datagram is received.
#[derive(Clone)]
pub(crate) struct OnFirstDatagram(Arc<dyn Fn() + Send + Sync>);

impl OnFirstDatagram {
    pub(crate) fn tell(&self) {
        (self.0)();
    }
}

impl fmt::Debug for OnFirstDatagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnFirstDatagram")
    }
}

/// The one request of an attempt, a GET, and the limits on its answer.
#[derive(Debug, Clone)]
pub struct Request {
    pub(crate) uri: Uri,
    pub(crate) user_agent: HeaderValue,
    pub(crate) max_body_bytes: u32,
    pub(crate) max_header_bytes: u32,
    pub(crate) deadline: Duration,
}

impl Request {
    /// `authority` is `host` or `host:port`; `path` starts with a slash and may contain a query.
    pub fn get(authority: &str, path: &str) -> Result<Self, InvalidRequest> {
        let parsed = authority.parse().ok();
        let parsed = parsed.filter(|parsed: &Authority| !parsed.as_str().contains('@'));
        let parsed = parsed.ok_or_else(|| InvalidRequest::Authority(authority.to_owned()))?;
        if !path.starts_with('/') {
            return Err(InvalidRequest::Path(path.to_owned()));
        }
        let uri = Uri::builder()
            .scheme(Scheme::HTTPS)
            .authority(parsed)
            .path_and_query(path);
        Ok(Self {
            uri: uri
                .build()
                .map_err(|_| InvalidRequest::Path(path.to_owned()))?,
            user_agent: HeaderValue::from_static("photofinish"),
            max_body_bytes: 64 * 1024,
            max_header_bytes: 256 * 1024,
            deadline: PATIENCE,
        })
    }

    /// `photofinish` by default.
    pub fn user_agent(mut self, user_agent: HeaderValue) -> Self {
        self.user_agent = user_agent;
        self
    }

    /// Limit on the body bytes read. 64 KiB by default.
    pub fn max_body_bytes(mut self, bytes: u32) -> Self {
        self.max_body_bytes = bytes;
        self
    }

    /// Limit on the header section, as counted in RFC 9114 section 4.2.2. 256 KiB by default.
    pub fn max_header_bytes(mut self, bytes: u32) -> Self {
        self.max_header_bytes = bytes;
        self
    }

    /// From the attempt's start to the last byte of the answer. 10 s by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

/// An invalid request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRequest {
    #[error("authority must be host[:port], not {0:?}")]
    Authority(String),
    #[error("path must start with a slash, not {0:?}")]
    Path(String),
}

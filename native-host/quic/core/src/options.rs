//! What an attempt is told to do, validated once: nothing behind this door sees a bad argument.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Method, Uri};
use rustls_pki_types::ServerName;

/// Longest wait an owner can ask for: ten minutes, far beyond any race.
const LONGEST_WAIT_MS: f64 = 600_000.0;
/// Largest value of a QUIC flow-control window that any answer here needs.
const LARGEST_CAP_BYTES: u32 = 1 << 30;

/// An argument that cannot be used, in words for the person who passed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidInput(String);

impl InvalidInput {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for InvalidInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidInput {}

/// Told once, on the attempt's own task, when the first datagram comes back; must not block.
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

/// Where to connect, as whom, and how long to try.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    pub(crate) remote: SocketAddr,
    pub(crate) server_name: String,
    pub(crate) initial_rtt: Duration,
    pub(crate) handshake_timeout: Duration,
    pub(crate) on_first_datagram: Option<OnFirstDatagram>,
    pub(crate) counted_from: Option<Instant>,
}

impl ConnectOptions {
    /// `address` is an IP literal, `server_name` what the certificate must name. quinn sends its
    /// first retransmission 3 x `initial_rtt_ms` after the first flight (RFC 9002 section 6.2.2).
    pub fn new(
        address: &str,
        port: u32,
        server_name: &str,
        initial_rtt_ms: f64,
        handshake_timeout_ms: f64,
    ) -> Result<Self, InvalidInput> {
        let ip: IpAddr = address.parse().map_err(|_| {
            InvalidInput::new(format!("address must be an IP address, not {address:?}"))
        })?;
        let port = u16::try_from(port).ok().filter(|port| *port != 0);
        let port = port.ok_or_else(|| InvalidInput::new("port must be between 1 and 65535"))?;
        ServerName::try_from(server_name).map_err(|_| {
            InvalidInput::new(format!(
                "serverName must be a host name or an IP address, not {server_name:?}"
            ))
        })?;
        Ok(Self {
            remote: SocketAddr::new(ip, port),
            server_name: server_name.to_owned(),
            initial_rtt: wait("initialRttMs", initial_rtt_ms)?,
            handshake_timeout: wait("handshakeTimeoutMs", handshake_timeout_ms)?,
            on_first_datagram: None,
            counted_from: None,
        })
    }

    /// Counts every time of the attempt, and its time-out, from this moment on instead of from when the attempt is first
    /// polled: what its owner waits for a thread is part of what it takes.
    pub fn counted_from(mut self, moment: Instant) -> Self {
        self.counted_from = Some(moment);
        self
    }

    /// Calls `listener` once, when the peer first shows life. It must not block.
    pub fn on_first_datagram(mut self, listener: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_first_datagram = Some(OnFirstDatagram(Arc::new(listener)));
        self
    }
}

/// The one request of an attempt and the limits on its answer.
#[derive(Debug, Clone)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) user_agent: HeaderValue,
    pub(crate) max_body_bytes: u32,
    pub(crate) max_header_bytes: u32,
    pub(crate) deadline: Duration,
}

impl Request {
    /// `method` is GET or HEAD; `path` starts with a slash and may carry a query; `deadline_ms`
    /// counts from the call that sends the request to the last byte of the answer.
    pub fn new(
        method: &str,
        authority: &str,
        path: &str,
        user_agent: &str,
        max_body_bytes: u32,
        max_header_bytes: u32,
        deadline_ms: f64,
    ) -> Result<Self, InvalidInput> {
        let method = match method {
            "GET" => Method::GET,
            "HEAD" => Method::HEAD,
            other => {
                return Err(InvalidInput::new(format!(
                    "method must be GET or HEAD, not {other:?}"
                )));
            }
        };
        let authority: Authority = authority
            .parse()
            .ok()
            .filter(|authority: &Authority| !authority.as_str().contains('@'))
            .ok_or_else(|| {
                InvalidInput::new(format!("authority must be host[:port], not {authority:?}"))
            })?;
        let path: PathAndQuery = path
            .parse()
            .ok()
            .filter(|_| path.starts_with('/'))
            .ok_or_else(|| {
                InvalidInput::new(format!("path must start with a slash, not {path:?}"))
            })?;
        let uri = Uri::builder()
            .scheme(Scheme::HTTPS)
            .authority(authority)
            .path_and_query(path)
            .build()
            .map_err(|error| {
                InvalidInput::new(format!("authority and path make no URL: {error}"))
            })?;
        Ok(Self {
            method,
            uri,
            user_agent: HeaderValue::from_str(user_agent).map_err(|_| {
                InvalidInput::new("userAgent holds characters that a header cannot carry")
            })?,
            max_body_bytes: cap("maxBodyBytes", max_body_bytes)?,
            max_header_bytes: cap("maxHeaderBytes", max_header_bytes)?,
            deadline: wait("deadlineMs", deadline_ms)?,
        })
    }
}

fn wait(name: &str, ms: f64) -> Result<Duration, InvalidInput> {
    // NaN fails the range check too.
    if !(0.001..=LONGEST_WAIT_MS).contains(&ms) {
        return Err(InvalidInput::new(format!(
            "{name} must be between 0.001 and {LONGEST_WAIT_MS}, not {ms}"
        )));
    }
    Ok(Duration::from_secs_f64(ms / 1000.0))
}

fn cap(name: &str, bytes: u32) -> Result<u32, InvalidInput> {
    if bytes > LARGEST_CAP_BYTES {
        return Err(InvalidInput::new(format!(
            "{name} must be at most {LARGEST_CAP_BYTES}"
        )));
    }
    Ok(bytes)
}

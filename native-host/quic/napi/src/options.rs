//! What JavaScript asks for: Node's texts and numbers become the types of the core here, once.

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use napi::bindgen_prelude::{Error, Result, Status};
use napi_derive::napi;
use photofinish_quic as core;

/// The longest wait that can be asked for: a minute beyond the ten that a race can be given at most.
const LONGEST_WAIT_MS: f64 = 660_000.0;

/// Where to connect, as whom, and how long to try.
#[napi(object, object_to_js = false)]
pub struct AttemptOptions {
    /// An IP address literal.
    pub address: String,
    pub port: u32,
    /// The name in SNI and in the certificate.
    pub server_name: String,
    /// The first retransmission comes after three times this.
    pub initial_rtt_ms: f64,
    pub handshake_timeout_ms: f64,
}

impl TryFrom<AttemptOptions> for core::ConnectOptions {
    type Error = Error;

    fn try_from(options: AttemptOptions) -> Result<Self> {
        let AttemptOptions {
            address,
            server_name: name,
            ..
        } = options;
        let ip: IpAddr = address
            .parse()
            .map_err(|_| invalid(format!("address must be an IP address, not {address:?}")))?;
        let port = u16::try_from(options.port).ok().filter(|port| *port != 0);
        let port = port.ok_or_else(|| invalid("port must be between 1 and 65535"))?;
        let server_name = core::ServerName::try_from(name.clone()).map_err(|_| {
            invalid(format!(
                "serverName must be a host name or an IP address, not {name:?}"
            ))
        })?;
        Ok(Self::new(SocketAddr::new(ip, port), server_name)
            .initial_rtt(duration("initialRttMs", options.initial_rtt_ms)?)
            .handshake_timeout(duration(
                "handshakeTimeoutMs",
                options.handshake_timeout_ms,
            )?))
    }
}

/// The one request of an attempt, a GET, and the limits on its answer.
#[napi(object, object_to_js = false)]
pub struct RequestOptions {
    /// `host` or `host:port`.
    pub authority: String,
    /// Starts with a slash; may carry a query.
    pub path: String,
    pub user_agent: String,
    pub max_body_bytes: u32,
    pub max_header_bytes: u32,
    /// From the attempt's start to the last byte of the answer.
    pub deadline_ms: f64,
}

impl TryFrom<RequestOptions> for core::Request {
    type Error = Error;

    fn try_from(options: RequestOptions) -> Result<Self> {
        let user_agent = core::HeaderValue::try_from(options.user_agent)
            .map_err(|_| invalid("userAgent holds characters that a header cannot carry"))?;
        Ok(Self::get(&options.authority, &options.path)
            .map_err(invalid)?
            .user_agent(user_agent)
            .max_body_bytes(options.max_body_bytes)
            .max_header_bytes(options.max_header_bytes)
            .deadline(duration("deadlineMs", options.deadline_ms)?))
    }
}

/// Node's milliseconds.
pub(crate) fn duration(name: &str, ms: f64) -> Result<Duration> {
    // NaN fails the range check too.
    if !(0.001..=LONGEST_WAIT_MS).contains(&ms) {
        let range = format!("{name} must be between 0.001 and {LONGEST_WAIT_MS}, not {ms}");
        return Err(invalid(range));
    }
    Ok(Duration::from_secs_f64(ms / 1000.0))
}

pub(crate) fn invalid(problem: impl Display) -> Error {
    Error::new(Status::InvalidArg, problem.to_string())
}

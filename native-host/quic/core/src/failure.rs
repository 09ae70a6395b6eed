//! Why an attempt failed, as data. The only table of codes, and the only place that interprets errors of quinn and
//! rustls; h3-quinn merges most of them, so the connection's own reason decides.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use h3::error::Code;
use quinn::{ConnectionError, Side, TransportErrorCode};

use crate::alerts::alert_name;
use crate::refusal::Refusal;
use crate::socket::{SocketError, Traffic, is_final, is_forbidden_here};
use crate::trust::{RecordingVerifier, Verdict};

/// First code of the range for TLS alerts (RFC 9000 section 20.1, CRYPTO_ERROR).
const CRYPTO_ERROR: u64 = 0x100;
/// `no_application_protocol` (RFC 7301 section 3.2).
const ALERT_NO_APPLICATION_PROTOCOL: u8 = 120;

/// A failed attempt, and what it had exchanged by then, which distinguishes a silent network from a silent server.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}: {cause}", cause.code())]
#[non_exhaustive]
pub struct AttemptFailure {
    pub cause: Failure,
    /// Since the attempt's start.
    pub after: Duration,
    pub traffic: Traffic,
    /// Packets declared lost; 0 for a failed handshake, for which quinn provides no count.
    pub lost_packets: u64,
    /// What had been received of a response; none: nothing. Boxed, because a failure is the error of many functions.
    pub response: Option<Box<IncompleteResponse>>,
}

/// What was received of a response that did not complete: its header section, or fields of interim responses alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IncompleteResponse {
    /// None: no header section of a final response was received.
    pub head: Option<ResponseHead>,
    /// The last `Alt-Svc` received, several lines joined by ", " (RFC 9110 section 5.3).
    pub alt_svc: Option<String>,
    /// The `Age` beside it: those of other responses say nothing about it.
    pub age: Option<String>,
}

/// The header section of a final response was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseHead {
    pub status: u16,
    /// Since the attempt's start.
    pub first_byte: Duration,
}

/// Nothing was exchanged.
impl From<Failure> for AttemptFailure {
    fn from(cause: Failure) -> Self {
        Self {
            cause,
            after: Duration::ZERO,
            traffic: Traffic::default(),
            lost_packets: 0,
            response: None,
        }
    }
}

/// What went wrong.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// ICMP "port unreachable", by the host itself or by a firewall.
    #[error("{}", .0.kind())]
    UdpRefused(Arc<io::Error>),
    /// A router, a firewall or this machine's own routes say that the host is unreachable or the traffic prohibited. The
    /// kind says which, in the same words on every system, unless the error has words of ours.
    #[error("{}", own_words(.0).unwrap_or_else(|| .0.kind().to_string()))]
    UdpUnreachable(Arc<io::Error>),
    /// Neither this machine nor a router has a route to the address's network, in the same words.
    #[error("{}", own_words(.0).unwrap_or_else(|| .0.kind().to_string()))]
    NoRoute(Arc<io::Error>),
    #[error("no datagram came back in time")]
    UdpTimeout,
    #[error("{}", unfinished(*.datagrams, *.retries))]
    HandshakeTimeout { datagrams: u32, retries: u32 },
    #[error("the server speaks no QUIC version of ours")]
    VersionMismatch,
    #[error("{0}")]
    AlpnMismatch(Termination),
    #[error(transparent)]
    CertificateInvalid(Refusal),
    #[error("{0}")]
    TlsAlert(Termination),
    #[error("{0}")]
    ConnectionClosed(Termination),
    #[error("the peer does not know this connection")]
    StatelessReset,
    /// The handshake succeeded, but HTTP/3 failed.
    #[error("{0}")]
    H3Error(Termination),
    #[error("{0}")]
    Goaway(Termination),
    #[error("the response was not complete in time")]
    ResponseTimeout,
    /// Our own limit, which does not count against the server (RFC 9114 section 4.2.2).
    #[error("{0}")]
    ResponseTooLarge(String),
    /// `H3_VERSION_FALLBACK` (RFC 9114 section 8.1).
    #[error("{0}")]
    VersionFallback(Termination),
    #[error("the owner cancelled the attempt")]
    Cancelled,
    /// A bug of ours or of a library, contained to the attempt, which fails without saying anything about the peer.
    #[error("{0}")]
    Internal(String),
}

impl Failure {
    /// The code in the project's failure taxonomy.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UdpRefused(_) => "udp-refused",
            Self::UdpUnreachable(_) => "udp-unreachable",
            Self::NoRoute(_) => "no-route",
            Self::UdpTimeout => "udp-timeout",
            Self::HandshakeTimeout { .. } => "handshake-timeout",
            Self::VersionMismatch => "version-mismatch",
            Self::AlpnMismatch(_) => "alpn-mismatch",
            Self::CertificateInvalid(_) => "certificate-invalid",
            Self::TlsAlert(_) => "tls-alert",
            Self::ConnectionClosed(_) => "connection-closed",
            Self::StatelessReset => "stateless-reset",
            Self::H3Error(_) => "h3-error",
            Self::Goaway(_) => "goaway",
            Self::ResponseTimeout => "response-timeout",
            Self::ResponseTooLarge(_) => "response-too-large",
            Self::VersionFallback(_) => "version-fallback",
            Self::Cancelled => "cancelled",
            Self::Internal(_) => "internal",
        }
    }

    /// The code that ended it on the wire, if one was exchanged.
    pub fn error_code(&self) -> Option<&ErrorCode> {
        match self {
            Self::AlpnMismatch(end)
            | Self::TlsAlert(end)
            | Self::ConnectionClosed(end)
            | Self::H3Error(end)
            | Self::Goaway(end)
            | Self::VersionFallback(end) => end.code.as_deref(),
            _ => None,
        }
    }

    pub(crate) fn internal(problem: impl fmt::Display) -> Self {
        Self::Internal(problem.to_string())
    }

    /// The failure for a deadline that passed before the handshake was done.
    pub(crate) fn handshake_timeout(traffic: &Traffic) -> Self {
        match traffic.datagrams_received {
            0 => Self::UdpTimeout,
            datagrams => Self::HandshakeTimeout {
                datagrams,
                retries: traffic.retries_received,
            },
        }
    }

    /// Why there is no socket. Unless it is the network that refuses, this machine lacks something, such as descriptors,
    /// and nothing was learnt about the peer.
    pub(crate) fn from_opening(error: io::Error) -> Self {
        if is_forbidden_here(&error) {
            Self::forbidden_here(&error)
        } else if is_final(&error) {
            Self::undelivered(Arc::new(error))
        } else {
            Self::internal(format_args!("no UDP socket can be opened: {error}"))
        }
    }

    fn forbidden_here(error: &io::Error) -> Self {
        Self::internal(format_args!(
            "this machine refuses to send over UDP: {error}"
        ))
    }

    /// Why no datagram can be delivered; the error is final.
    fn undelivered(error: Arc<io::Error>) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::UdpRefused(error),
            // So Windows reports it for datagram sockets (WSAECONNRESET in recv).
            io::ErrorKind::ConnectionReset => {
                Self::UdpRefused(Arc::new(io::ErrorKind::ConnectionRefused.into()))
            }
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::NetworkDown => Self::NoRoute(error),
            _ => Self::UdpUnreachable(error),
        }
    }

    /// Why the socket ended the attempt. `too_much` describes what exceeded the limit.
    pub(crate) fn from_socket(error: &SocketError, too_much: &str) -> Self {
        match error {
            SocketError::Undeliverable(error) if is_forbidden_here(error) => {
                Self::forbidden_here(error)
            }
            SocketError::Undeliverable(error) => Self::undelivered(error.clone()),
            SocketError::OverBudget => {
                Self::ResponseTooLarge(format!("{too_much} is larger than what is read"))
            }
        }
    }

    /// Why a connection died. `lost_to_silence` is the meaning of an idle time-out in the current phase.
    pub(crate) fn from_connection(
        error: &ConnectionError,
        verifier: &RecordingVerifier,
        lost_to_silence: impl FnOnce() -> Self,
    ) -> Self {
        match error {
            ConnectionError::VersionMismatch => Self::VersionMismatch,
            ConnectionError::TransportError(local) => {
                if let Some(Verdict::Refused(refusal)) = verifier.verdict() {
                    return Self::CertificateInvalid(refusal.clone());
                }
                if local.code == TransportErrorCode::INTERNAL_ERROR {
                    return Self::internal(local);
                }
                let message = match alert(local.code) {
                    Some(_) => with_reason("this side refused", local.reason.as_bytes()),
                    None => local.to_string(),
                };
                Self::from_close(message, Side::Client, local.code)
            }
            ConnectionError::ConnectionClosed(close) => {
                let words = match alert(close.error_code) {
                    Some(_) => "the peer refused".to_owned(),
                    None => close.error_code.to_string(),
                };
                let message = with_reason(&words, &close.reason);
                Self::from_close(message, Side::Server, close.error_code)
            }
            ConnectionError::ApplicationClosed(close) => {
                let message = with_reason("the peer closed the connection", &close.reason);
                let code = Code::from(close.error_code.into_inner());
                Self::ConnectionClosed(Termination::over_h3(message, Side::Server, code))
            }
            ConnectionError::Reset => Self::StatelessReset,
            ConnectionError::TimedOut => lost_to_silence(),
            ConnectionError::LocallyClosed | ConnectionError::CidsExhausted => {
                Self::ConnectionClosed(Termination::new(error.to_string()))
            }
        }
    }

    /// The meaning of a CONNECTION_CLOSE of QUIC itself (RFC 9000 section 19.19).
    fn from_close(message: String, sender: Side, code: TransportErrorCode) -> Self {
        let end = Termination::over_quic(message, sender, code);
        match alert(code) {
            Some(ALERT_NO_APPLICATION_PROTOCOL) => Self::AlpnMismatch(end),
            Some(_) => Self::TlsAlert(end),
            None => Self::ConnectionClosed(end),
        }
    }
}

/// How a connection or a stream was ended: in words, and by the code exchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Termination {
    pub message: String,
    /// Boxed, because a failure is the error of many functions.
    pub code: Option<Box<ErrorCode>>,
}

/// An error code of QUIC (RFC 9000 section 20) or HTTP/3 (RFC 9114 section 8.1).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorCode {
    /// The client found that the server violated the protocol; the server may have any reason.
    pub sender: Side,
    pub number: u64,
    /// The name registered for the code, such as `H3_INTERNAL_ERROR`, or of the TLS alert in it, such as
    /// `certificate_required`.
    pub name: Option<String>,
}

impl Termination {
    /// No code was exchanged.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: None,
        }
    }

    pub(crate) fn over_h3(message: impl Into<String>, sender: Side, code: Code) -> Self {
        let name = format!("{code:?}");
        Self {
            message: message.into(),
            code: Some(Box::new(ErrorCode {
                sender,
                number: code.value(),
                name: (!name.starts_with("0x")).then_some(name),
            })),
        }
    }

    fn over_quic(message: String, sender: Side, code: TransportErrorCode) -> Self {
        let name = match alert(code) {
            Some(alert) => alert_name(alert),
            None => format!("{code:?}"),
        };
        Self {
            message,
            code: Some(Box::new(ErrorCode {
                sender,
                number: code.into(),
                name: (!name.starts_with("Code")).then_some(name),
            })),
        }
    }
}

impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The system's errors have none.
fn own_words(error: &io::Error) -> Option<String> {
    error.get_ref().map(ToString::to_string)
}

/// A server may send one Retry, and must accept the token in it.
fn unfinished(datagrams: u32, retries: u32) -> String {
    match retries {
        2.. => format!("the server asked for a Retry {retries} times and let no handshake finish"),
        _ => format!("{datagrams} datagrams came back, but no finished handshake in time"),
    }
}

/// Appends the peer's reason phrase, which is untrusted: shortened, and without terminal control characters.
fn with_reason(words: &str, reason: &[u8]) -> String {
    const LONGEST: usize = 200;
    let reason: String = String::from_utf8_lossy(reason)
        .chars()
        .take(LONGEST)
        .map(|character| match character.is_control() {
            true => char::REPLACEMENT_CHARACTER,
            false => character,
        })
        .collect();
    match reason.is_empty() {
        true => words.to_owned(),
        false => format!("{words}: {reason}"),
    }
}

/// The TLS alert in a QUIC error code.
fn alert(code: TransportErrorCode) -> Option<u8> {
    u8::try_from(u64::from(code).checked_sub(CRYPTO_ERROR)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_ours_has_a_code_of_its_own() {
        let fault = AttemptFailure::from(Failure::internal("a panic"));
        assert_eq!(fault.to_string(), "internal: a panic");
    }

    #[test]
    fn a_socket_that_this_machine_lacks_is_no_refusal() {
        let unroutable = Failure::from_opening(io::ErrorKind::NetworkUnreachable.into());
        assert_eq!(unroutable.code(), "no-route");
        assert_eq!(unroutable.to_string(), "network unreachable");
        for kind in [
            io::ErrorKind::OutOfMemory,
            io::ErrorKind::AddrNotAvailable,
            io::ErrorKind::Other,
        ] {
            let lacking = Failure::from_opening(kind.into());
            assert_eq!(lacking.code(), "internal", "{lacking}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_this_machine_forbids_is_no_refusal_and_what_the_path_prohibits_is() {
        let (forbidden, prohibited) = (1, 13);
        let of = |errno| io::Error::from_raw_os_error(errno);
        assert_eq!(of(forbidden).kind(), of(prohibited).kind());
        let sent =
            |errno| Failure::from_socket(&SocketError::Undeliverable(Arc::new(of(errno))), "it");
        for failure in [Failure::from_opening(of(forbidden)), sent(forbidden)] {
            assert_eq!(failure.code(), "internal", "{failure}");
            assert!(failure.to_string().contains("refuses to send"), "{failure}");
        }
        for failure in [Failure::from_opening(of(prohibited)), sent(prohibited)] {
            assert_eq!(failure.code(), "udp-unreachable", "{failure}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_blackhole_route_is_none_of_our_bugs_and_any_other_invalid_call_is() {
        let invalid = || io::Error::from_raw_os_error(22);
        assert_eq!(Failure::from_opening(invalid()).code(), "internal");
        let routed = || photofinish_udp::path_error(invalid(), ([192, 0, 2, 1], 443).into());
        let sent = SocketError::Undeliverable(Arc::new(routed()));
        for failure in [
            Failure::from_opening(routed()),
            Failure::from_socket(&sent, "it"),
        ] {
            assert_eq!(failure.code(), "udp-unreachable", "{failure}");
            assert!(failure.to_string().contains("blackhole"), "{failure}");
        }
    }

    #[test]
    fn a_refused_port_an_unreachable_host_and_no_route_are_told_apart() {
        for (kind, code) in [
            (io::ErrorKind::ConnectionRefused, "udp-refused"),
            (io::ErrorKind::ConnectionReset, "udp-refused"),
            (io::ErrorKind::HostUnreachable, "udp-unreachable"),
            (io::ErrorKind::NetworkUnreachable, "no-route"),
            (io::ErrorKind::NetworkDown, "no-route"),
        ] {
            let error = SocketError::Undeliverable(Arc::new(kind.into()));
            assert_eq!(Failure::from_socket(&error, "it").code(), code, "{kind}");
            assert_eq!(Failure::from_opening(kind.into()).code(), code, "{kind}");
        }
    }
}

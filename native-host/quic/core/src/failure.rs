//! Why an attempt failed, as data. The one table of codes, and the one place that reads quinn's and
//! rustls' errors; h3-quinn folds most of them together, so the connection's own reason decides.

use std::fmt;

use h3::error::Code;
use quinn::{ConnectionError, TransportErrorCode};
use rustls::CertificateError;

use crate::alerts::alert_name;
use crate::socket::{Traffic, Trouble};
use crate::trust::{RecordingVerifier, Verdict};

/// First code of the range that carries TLS alerts (RFC 9000 section 20.1, CRYPTO_ERROR).
const CRYPTO_ERROR: u64 = 0x100;
/// `no_application_protocol` (RFC 7301 section 3.2).
const ALERT_NO_APPLICATION_PROTOCOL: u8 = 120;

/// What went wrong, in the words of the project's failure taxonomy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureCode {
    UdpRefused,
    UdpTimeout,
    HandshakeTimeout,
    VersionMismatch,
    AlpnMismatch,
    CertificateInvalid,
    TlsAlert,
    ConnectionClosed,
    StatelessReset,
    H3Error,
    Goaway,
    ResponseTimeout,
    ResponseTooLarge,
    VersionFallback,
    Cancelled,
    Internal,
}

impl FailureCode {
    /// The code as it travels.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UdpRefused => "udp-refused",
            Self::UdpTimeout => "udp-timeout",
            Self::HandshakeTimeout => "handshake-timeout",
            Self::VersionMismatch => "version-mismatch",
            Self::AlpnMismatch => "alpn-mismatch",
            Self::CertificateInvalid => "certificate-invalid",
            Self::TlsAlert => "tls-alert",
            Self::ConnectionClosed => "connection-closed",
            Self::StatelessReset => "stateless-reset",
            Self::H3Error => "h3-error",
            Self::Goaway => "goaway",
            Self::ResponseTimeout => "response-timeout",
            Self::ResponseTooLarge => "response-too-large",
            Self::VersionFallback => "version-fallback",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        }
    }
}

/// Why a certificate was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateReason {
    Expired,
    NotYetValid,
    WrongName,
    UnknownIssuer,
    Revoked,
    BadSignature,
    Other,
}

impl CertificateReason {
    /// The reason as it travels.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::NotYetValid => "not-yet-valid",
            Self::WrongName => "wrong-name",
            Self::UnknownIssuer => "unknown-issuer",
            Self::Revoked => "revoked",
            Self::BadSignature => "bad-signature",
            Self::Other => "other",
        }
    }
}

impl From<&CertificateError> for CertificateReason {
    fn from(error: &CertificateError) -> Self {
        match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                Self::NotYetValid
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::WrongName
            }
            CertificateError::UnknownIssuer => Self::UnknownIssuer,
            CertificateError::Revoked => Self::Revoked,
            CertificateError::BadSignature => Self::BadSignature,
            _ => Self::Other,
        }
    }
}

/// A failed attempt. `traffic` tells a silent network from a silent server. It is an error of many functions, and small
/// for that: its texts are boxed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub code: FailureCode,
    pub message: Box<str>,
    /// Set with `certificate-invalid`.
    pub certificate_reason: Option<CertificateReason>,
    /// The TLS alert's number, set with `tls-alert` and `alpn-mismatch` when one was exchanged.
    pub tls_alert: Option<u8>,
    /// The QUIC or HTTP/3 error code that the peer gave.
    pub peer_code: Option<u64>,
    /// The code that ended it on the wire, by its registered name: `certificate_required`, `H3_INTERNAL_ERROR`.
    pub wire_code: Option<Box<str>>,
    /// This side ended the connection, because the peer broke the protocol.
    pub ended_by_us: bool,
    /// Milliseconds since the attempt's start.
    pub failed_ms: f64,
    pub traffic: Traffic,
    /// Packets declared lost; 0 for a failed handshake, of which quinn tells no count.
    pub lost_packets: u64,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Failure {}

impl Failure {
    pub(crate) fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into().into_boxed_str(),
            certificate_reason: None,
            tls_alert: None,
            peer_code: None,
            wire_code: None,
            ended_by_us: false,
            failed_ms: 0.0,
            traffic: Traffic::default(),
            lost_packets: 0,
        }
    }

    /// A bug of ours or of a library, kept from the process: the attempt alone fails, and says nothing
    /// about the peer.
    pub fn internal(problem: impl fmt::Display) -> Self {
        Self::new(FailureCode::Internal, problem.to_string())
    }

    /// The owner's own wish.
    pub fn cancelled() -> Self {
        Self::new(FailureCode::Cancelled, "the owner cancelled the attempt")
    }

    pub(crate) fn with_peer_code(mut self, code: u64) -> Self {
        self.peer_code = Some(code);
        self
    }

    /// The peer's code, with its name from HTTP/3's registry if that holds it.
    pub(crate) fn with_h3_code(self, code: u64) -> Self {
        let name = format!("{:?}", Code::from(code));
        let wire_code = (!name.starts_with("0x")).then(|| name.into_boxed_str());
        Self { wire_code, ..self }.with_peer_code(code)
    }

    /// A breach of the protocol that this side found and answered with `code`.
    pub(crate) fn breach(failure: FailureCode, message: String, code: impl fmt::Debug) -> Self {
        Self {
            wire_code: Some(format!("{code:?}").into_boxed_str()),
            ended_by_us: true,
            ..Self::new(failure, message)
        }
    }

    /// A deadline that passed before the handshake was done.
    pub(crate) fn handshake_timeout(traffic: &Traffic) -> Self {
        match (traffic.datagrams_received, traffic.retries_received) {
            (0, _) => Self::new(FailureCode::UdpTimeout, "no datagram came back in time"),
            // One is the server's right; it must be content with the token that it brings.
            (_, retries @ 2..) => Self::new(
                FailureCode::HandshakeTimeout,
                format!("the server asked for a Retry {retries} times and let no handshake finish"),
            ),
            (count, _) => Self::new(
                FailureCode::HandshakeTimeout,
                format!("{count} datagrams came back, but no finished handshake in time"),
            ),
        }
    }

    /// Why the socket ended the attempt. `too_much` says what is larger than what is read.
    pub(crate) fn from_trouble(trouble: &Trouble, too_much: &str) -> Self {
        match trouble {
            Trouble::Refused(error) => Self::new(FailureCode::UdpRefused, error.to_string()),
            Trouble::OverBudget => Self::new(
                FailureCode::ResponseTooLarge,
                format!("{too_much} is larger than what is read"),
            ),
        }
    }

    /// Reads why a connection died. `lost_to_silence` says what an idle time-out means just now.
    pub(crate) fn from_connection(
        error: &ConnectionError,
        verifier: &RecordingVerifier,
        lost_to_silence: impl FnOnce() -> Self,
    ) -> Self {
        match error {
            ConnectionError::VersionMismatch => Self::new(
                FailureCode::VersionMismatch,
                "the server speaks no QUIC version of ours",
            ),
            ConnectionError::TransportError(local) => {
                if let Some(Verdict::Refused(refusal)) = verifier.verdict() {
                    return Self {
                        certificate_reason: Some(refusal.reason),
                        ..Self::new(FailureCode::CertificateInvalid, refusal.message.clone())
                    };
                }
                match alert(local.code) {
                    Some(alert) => Self {
                        ended_by_us: true,
                        ..Self::from_alert(
                            alert,
                            with_reason("this side refused", local.reason.as_bytes()),
                        )
                    },
                    None if local.code == TransportErrorCode::INTERNAL_ERROR => {
                        Self::internal(local)
                    }
                    None => {
                        Self::breach(FailureCode::ConnectionClosed, local.to_string(), local.code)
                    }
                }
            }
            ConnectionError::ConnectionClosed(close) => {
                match alert(close.error_code) {
                    Some(alert) => {
                        Self::from_alert(alert, with_reason("the peer refused", &close.reason))
                    }
                    None => Self {
                        wire_code: transport_name(close.error_code),
                        ..Self::new(
                            FailureCode::ConnectionClosed,
                            with_reason(&close.error_code.to_string(), &close.reason),
                        )
                    },
                }
            }
            .with_peer_code(close.error_code.into()),
            ConnectionError::ApplicationClosed(close) => {
                let message = with_reason("the peer closed the connection", &close.reason);
                Self::new(FailureCode::ConnectionClosed, message)
                    .with_h3_code(close.error_code.into_inner())
            }
            ConnectionError::Reset => Self::new(
                FailureCode::StatelessReset,
                "the peer does not know this connection",
            ),
            ConnectionError::TimedOut => lost_to_silence(),
            ConnectionError::LocallyClosed | ConnectionError::CidsExhausted => {
                Self::new(FailureCode::ConnectionClosed, error.to_string())
            }
        }
    }

    fn from_alert(alert: u8, message: String) -> Self {
        let code = match alert {
            ALERT_NO_APPLICATION_PROTOCOL => FailureCode::AlpnMismatch,
            _ => FailureCode::TlsAlert,
        };
        Self {
            tls_alert: Some(alert),
            wire_code: Some(alert_name(alert).into_boxed_str()),
            ..Self::new(code, message)
        }
    }
}

/// Appends what a peer gave as its reason, which is anybody's text: shortened, and without what moves a terminal.
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

/// quinn's name of a code, which is that of RFC 9000 section 20.1; of one that is not registered it has none.
fn transport_name(code: TransportErrorCode) -> Option<Box<str>> {
    let name = format!("{code:?}");
    (!name.starts_with("Code")).then(|| name.into_boxed_str())
}

fn alert(code: TransportErrorCode) -> Option<u8> {
    u8::try_from(u64::from(code).checked_sub(CRYPTO_ERROR)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_ours_has_a_code_of_its_own() {
        let fault = Failure::internal("a panic");
        assert_eq!(
            (fault.code.as_str(), &*fault.message),
            ("internal", "a panic")
        );
    }
}

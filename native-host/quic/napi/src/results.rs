//! What crosses into JavaScript: discriminated unions, so that a caller must look at the failure.

use std::time::Duration;

use napi_derive::napi;
use photofinish_quic as core;

/// Datagrams of the attempt; times in milliseconds since its start.
#[napi(object, object_from_js = false)]
pub struct Traffic {
    pub first_datagram_out_ms: Option<f64>,
    pub first_datagram_in_ms: Option<f64>,
    pub datagrams_sent: u32,
    pub datagrams_received: u32,
}

/// What the rules of an attempt say of a certificate chain. `knownRoot`: it ends in one of the
/// bundled roots.
#[napi(
    discriminant = "outcome",
    discriminant_case = "lowercase",
    object_from_js = false
)]
pub enum ChainVerdict {
    Accepted {
        known_root: bool,
    },
    Refused {
        #[napi(
            ts_type = "'expired' | 'not-yet-valid' | 'wrong-name' | 'unknown-issuer' | 'revoked' | 'bad-signature' | 'other'"
        )]
        certificate_reason: String,
        message: String,
    },
}

/// Why an attempt failed.
#[napi(object, object_from_js = false)]
pub struct AttemptFailure {
    #[napi(
        ts_type = "'udp-refused' | 'udp-unreachable' | 'no-route' | 'udp-timeout' | 'handshake-timeout' | 'version-mismatch' | 'alpn-mismatch' | 'certificate-invalid' | 'tls-alert' | 'connection-closed' | 'stateless-reset' | 'h3-error' | 'goaway' | 'response-timeout' | 'response-too-large' | 'version-fallback' | 'cancelled' | 'internal'"
    )]
    pub code: String,
    pub message: String,
    /// With `certificate-invalid`.
    #[napi(
        ts_type = "'expired' | 'not-yet-valid' | 'wrong-name' | 'unknown-issuer' | 'revoked' | 'bad-signature' | 'other'"
    )]
    pub certificate_reason: Option<String>,
    /// The QUIC or HTTP/3 error code that the peer gave.
    pub peer_code: Option<f64>,
    /// The code that ended it on the wire, by its registered name: a TLS alert's, QUIC's or HTTP/3's.
    pub wire_code: Option<String>,
    /// This side ended the connection, because the peer broke the protocol.
    pub ended_by_us: bool,
    /// Milliseconds since the attempt's start.
    pub failed_ms: f64,
    pub traffic: Traffic,
    /// Packets declared lost; 0 for a failed handshake, of which no count is told.
    pub lost_packets: f64,
    /// What had been received of a response that did not complete; absent: nothing.
    pub response: Option<IncompleteResponse>,
}

/// The header section of a response that did not complete, or fields of interim responses alone: then without `status`
/// and `firstByteMs`, milliseconds since the attempt's start. `altSvc`: all values, joined by ", ".
#[napi(object, object_from_js = false)]
pub struct IncompleteResponse {
    pub status: Option<u32>,
    pub first_byte_ms: Option<f64>,
    pub alt_svc: Option<String>,
    pub age: Option<String>,
}

/// How a handshake ended; times in milliseconds since the attempt's start. `knownRoot`: the chain
/// ends in one of the bundled roots.
#[napi(
    discriminant = "outcome",
    discriminant_case = "lowercase",
    object_from_js = false
)]
pub enum ConnectResult {
    Established {
        handshake_ms: f64,
        traffic: Traffic,
        remote_address: String,
        remote_port: u32,
        alpn: String,
        known_root: bool,
        rtt_ms: Option<f64>,
        lost_packets: f64,
        quic_version: u32,
    },
    Failed {
        failure: AttemptFailure,
    },
}

/// How a request ended; times in milliseconds since the attempt's start. `altSvc`: all values,
/// joined by ", ". `truncated`: the body was longer than the cap, or not read, as with status 421.
/// `firstByteMs`: the final answer's header section was there.
#[napi(
    discriminant = "outcome",
    discriminant_case = "lowercase",
    object_from_js = false
)]
pub enum RequestResult {
    Answered {
        status: u32,
        alt_svc: Option<String>,
        age: Option<String>,
        body_bytes: f64,
        truncated: bool,
        request_sent_ms: f64,
        first_byte_ms: f64,
        done_ms: f64,
        rtt_ms: f64,
        traffic: Traffic,
        lost_packets: f64,
    },
    Failed {
        failure: AttemptFailure,
    },
}

impl From<core::Traffic> for Traffic {
    fn from(traffic: core::Traffic) -> Self {
        Self {
            first_datagram_out_ms: traffic.first_datagram_out.map(ms),
            first_datagram_in_ms: traffic.first_datagram_in.map(ms),
            datagrams_sent: traffic.datagrams_sent,
            datagrams_received: traffic.datagrams_received,
        }
    }
}

impl From<core::AttemptFailure> for AttemptFailure {
    fn from(failure: core::AttemptFailure) -> Self {
        let refusal = match &failure.cause {
            core::Failure::CertificateInvalid(refusal) => Some(refusal),
            _ => None,
        };
        let error_code = failure.cause.error_code();
        let ended_by_us = error_code.is_some_and(|code| code.sender == core::Side::Client);
        Self {
            code: failure.cause.code().to_owned(),
            message: failure.cause.to_string(),
            certificate_reason: refusal.map(|refusal| refusal.reason.as_str().to_owned()),
            peer_code: error_code
                .filter(|_| !ended_by_us)
                .map(|code| code.number as f64),
            wire_code: error_code.and_then(|code| code.name.clone()),
            ended_by_us,
            failed_ms: ms(failure.after),
            traffic: failure.traffic.into(),
            lost_packets: failure.lost_packets as f64,
            response: failure.response.map(|response| (*response).into()),
        }
    }
}

impl From<core::IncompleteResponse> for IncompleteResponse {
    fn from(response: core::IncompleteResponse) -> Self {
        Self {
            status: response.head.map(|head| head.status.into()),
            first_byte_ms: response.head.map(|head| ms(head.first_byte)),
            alt_svc: response.alt_svc,
            age: response.age,
        }
    }
}

impl From<Result<bool, core::Refusal>> for ChainVerdict {
    fn from(verdict: Result<bool, core::Refusal>) -> Self {
        match verdict {
            Ok(known_root) => Self::Accepted { known_root },
            Err(refusal) => Self::Refused {
                certificate_reason: refusal.reason.as_str().to_owned(),
                message: refusal.message,
            },
        }
    }
}

impl From<Result<&core::Handshake, core::AttemptFailure>> for ConnectResult {
    fn from(outcome: Result<&core::Handshake, core::AttemptFailure>) -> Self {
        match outcome {
            Ok(handshake) => Self::Established {
                handshake_ms: ms(handshake.after),
                traffic: handshake.traffic.into(),
                remote_address: handshake.remote.ip().to_string(),
                remote_port: handshake.remote.port().into(),
                alpn: handshake.alpn.clone(),
                known_root: handshake.known_root,
                rtt_ms: handshake.rtt.map(ms),
                lost_packets: handshake.lost_packets as f64,
                quic_version: core::QUIC_VERSION,
            },
            Err(failure) => Self::Failed {
                failure: failure.into(),
            },
        }
    }
}

impl From<Result<core::Response, core::AttemptFailure>> for RequestResult {
    fn from(outcome: Result<core::Response, core::AttemptFailure>) -> Self {
        match outcome {
            Ok(response) => Self::Answered {
                status: response.status.into(),
                alt_svc: response.alt_svc,
                age: response.age,
                body_bytes: response.body_bytes as f64,
                truncated: response.truncated,
                request_sent_ms: ms(response.request_sent),
                first_byte_ms: ms(response.first_byte),
                done_ms: ms(response.done),
                rtt_ms: ms(response.rtt),
                traffic: response.traffic.into(),
                lost_packets: response.lost_packets as f64,
            },
            Err(failure) => Self::Failed {
                failure: failure.into(),
            },
        }
    }
}

/// As Node counts time, with a fraction.
fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

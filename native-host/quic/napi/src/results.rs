//! What crosses into JavaScript: discriminated unions, so that a caller must look at the failure.

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
        ts_type = "'udp-refused' | 'udp-timeout' | 'handshake-timeout' | 'version-mismatch' | 'alpn-mismatch' | 'certificate-invalid' | 'tls-alert' | 'connection-closed' | 'stateless-reset' | 'h3-error' | 'goaway' | 'response-timeout' | 'response-too-large' | 'version-fallback' | 'cancelled' | 'internal'"
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
/// joined by ", ". `truncated`: the body was longer than the cap. `firstByteMs`: the final answer's
/// header section was there.
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
            first_datagram_out_ms: traffic.first_datagram_out_ms,
            first_datagram_in_ms: traffic.first_datagram_in_ms,
            datagrams_sent: traffic.datagrams_sent,
            datagrams_received: traffic.datagrams_received,
        }
    }
}

impl From<core::Failure> for AttemptFailure {
    fn from(failure: core::Failure) -> Self {
        Self {
            code: failure.code.as_str().to_owned(),
            message: failure.message.into_string(),
            certificate_reason: failure.certificate_reason.map(|r| r.as_str().to_owned()),
            peer_code: failure.peer_code.map(|code| code as f64),
            wire_code: failure.wire_code.map(str::into_string),
            ended_by_us: failure.ended_by_us,
            failed_ms: failure.failed_ms,
            traffic: failure.traffic.into(),
            lost_packets: failure.lost_packets as f64,
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

impl From<&core::Established> for ConnectResult {
    fn from(established: &core::Established) -> Self {
        Self::Established {
            handshake_ms: established.handshake_ms,
            traffic: established.traffic.into(),
            remote_address: established.remote.ip().to_string(),
            remote_port: established.remote.port().into(),
            alpn: established.alpn.clone(),
            known_root: established.known_root,
            rtt_ms: established.rtt_ms,
            lost_packets: established.lost_packets as f64,
            quic_version: core::QUIC_VERSION,
        }
    }
}

impl From<Result<core::Response, core::Failure>> for RequestResult {
    fn from(outcome: Result<core::Response, core::Failure>) -> Self {
        match outcome {
            Ok(response) => Self::Answered {
                status: response.status.into(),
                alt_svc: response.alt_svc,
                age: response.age,
                body_bytes: response.body_bytes as f64,
                truncated: response.truncated,
                request_sent_ms: response.request_sent_ms,
                first_byte_ms: response.first_byte_ms,
                done_ms: response.done_ms,
                rtt_ms: response.rtt_ms,
                traffic: response.traffic.into(),
                lost_packets: response.lost_packets as f64,
            },
            Err(failure) => Self::Failed {
                failure: failure.into(),
            },
        }
    }
}

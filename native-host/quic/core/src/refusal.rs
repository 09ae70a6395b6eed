//! A refused chain in words for server operators, instead of the identifiers used by rustls and webpki.

use rustls::{CertificateError, OtherError};
use rustls_pki_types::UnixTime;

/// Why a chain was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Refusal {
    pub reason: CertificateReason,
    /// In words for server operators.
    pub message: String,
}

impl From<&CertificateError> for Refusal {
    fn from(error: &CertificateError) -> Self {
        // Other errors have good messages of their own; for these rustls prints identifiers.
        let message = match error {
            CertificateError::UnknownIssuer => {
                "no chain of the certificates sent ends in a trusted root".to_owned()
            }
            CertificateError::BadSignature => "a signature in the chain is wrong".to_owned(),
            CertificateError::UnsupportedSignatureAlgorithmContext { .. }
            | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
                "a certificate is signed by an algorithm that is weak or unknown".to_owned()
            }
            CertificateError::ExpiredContext { time, not_after } => {
                format!("a certificate expired {} ago", between(*not_after, *time))
            }
            CertificateError::NotValidYetContext { time, not_before } => {
                format!(
                    "a certificate becomes valid in {}",
                    between(*time, *not_before)
                )
            }
            CertificateError::Other(OtherError(cause)) => rule_in_words(cause.to_string()),
            other => other.to_string(),
        };
        Self {
            reason: error.into(),
            message,
        }
    }
}

/// Why a certificate was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
    /// The reason as sent to JavaScript.
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

/// A time span, in the largest unit of which it contains more than one.
fn between(earlier: UnixTime, later: UnixTime) -> String {
    let seconds = later.as_secs().saturating_sub(earlier.as_secs());
    match seconds {
        172_800.. => format!("{} days", seconds / 86_400),
        7200.. => format!("{} hours", seconds / 3600),
        _ => format!("{seconds} seconds"),
    }
}

/// webpki names the rule that a chain breaks by its own identifier.
fn rule_in_words(rule: String) -> String {
    let words = match rule.as_str() {
        "CaUsedAsEndEntity" => "the certificate is that of an authority, not of a server",
        "EndEntityUsedAsCa" => "an intermediate is no authority (basic constraints without CA)",
        "PathLenConstraintViolated" => "the chain is longer than an authority in it allows",
        "NameConstraintViolation" => "an authority in the chain may not issue for these names",
        "UnsupportedCriticalExtension" => {
            "a certificate holds a critical extension that nobody here understands"
        }
        _ => return rule,
    };
    words.to_owned()
}

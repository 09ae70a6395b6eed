//! Checks that OpenSSL performs and webpki does not, so that both transports refuse the same certificates: permitted
//! key usage, minimum key strength, and whether a root is still valid.

use rustls_pki_types::{CertificateDer, UnixTime};
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;
use x509_parser::public_key::PublicKey;

/// CA/Browser Forum Baseline Requirements, section 6.1.5; webpki requires it of issuers, OpenSSL at security level 2 of
/// all.
const MIN_RSA_BITS: usize = 2048;

/// The rule that a certificate breaks, in words for its owner.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrokenRule {
    #[error("a certificate cannot be read: {0}")]
    Unreadable(String),
    #[error("the certificate's key may not sign (key usage without digitalSignature)")]
    NoDigitalSignature,
    #[error("the certificate's RSA key has {bits} bits; {MIN_RSA_BITS} are the least")]
    WeakKey { bits: usize },
    #[error("an intermediate may not sign certificates (key usage without keyCertSign)")]
    NoKeyCertSign,
}

/// Checks a chain that webpki has accepted. A certificate that is not in the path (some servers send them) is only
/// checked if it is an authority's.
pub(crate) fn check(
    end_entity: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
) -> Result<(), BrokenRule> {
    let leaf = parse(end_entity)?;
    // RFC 8446 section 4.4.2.2: the handshake is signed.
    if key_usage(&leaf).is_some_and(|usage| !usage.digital_signature()) {
        return Err(BrokenRule::NoDigitalSignature);
    }
    if let Ok(PublicKey::RSA(key)) = leaf.public_key().parsed()
        && key.key_size() < MIN_RSA_BITS
    {
        return Err(BrokenRule::WeakKey {
            bits: key.key_size(),
        });
    }
    for intermediate in intermediates {
        let authority = parse(intermediate)?;
        // RFC 5280 section 4.2.1.3.
        let signs = key_usage(&authority).is_none_or(|usage| usage.key_cert_sign());
        if authority.is_ca() && !signs {
            return Err(BrokenRule::NoKeyCertSign);
        }
    }
    Ok(())
}

/// Whether a root's validity period includes `now`, which webpki does not check.
pub(crate) fn in_force(root: &CertificateDer<'_>, now: UnixTime) -> bool {
    parse(root).is_ok_and(|root| {
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let validity = root.validity();
        (validity.not_before.timestamp()..=validity.not_after.timestamp()).contains(&seconds)
    })
}

fn parse<'a>(certificate: &'a CertificateDer<'_>) -> Result<X509Certificate<'a>, BrokenRule> {
    X509Certificate::from_der(certificate)
        .map(|(_, parsed)| parsed)
        .map_err(|error| BrokenRule::Unreadable(error.to_string()))
}

fn key_usage<'a>(
    certificate: &'a X509Certificate<'_>,
) -> Option<&'a x509_parser::extensions::KeyUsage> {
    let extension = certificate.key_usage().ok()??;
    Some(extension.value)
}

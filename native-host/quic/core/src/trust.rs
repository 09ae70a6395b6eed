//! The trust anchors of an attempt: two lists of roots, and a verifier that records why it refused. rustls reduces a
//! refusal to a TLS alert, but the race has to name the reason.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::{
    CertificateError, CipherSuite, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::accepted::AcceptedChains;
use crate::key_rules;
use crate::refusal::{CertificateReason, Refusal};

/// Trust anchors, parsed once and shared by every attempt.
#[derive(Debug)]
pub struct TrustStore {
    pub(crate) provider: Arc<CryptoProvider>,
    chain_verifier: Arc<ChainVerifier>,
    ignored: usize,
}

/// The two lists in webpki's form.
#[derive(Debug)]
struct ChainVerifier {
    accepted: AcceptedChains,
    bundled: Option<Arc<WebPkiServerVerifier>>,
    all: Arc<WebPkiServerVerifier>,
}

impl TrustStore {
    /// `bundled` are the publicly known roots, `extra` those of the system and of the user. Each element is one DER
    /// certificate, or PEM text with any number of them. Certificates that cannot be used as roots are counted and left
    /// out, because system lists do contain some.
    pub fn new<T: AsRef<[u8]>>(bundled: &[T], extra: &[T]) -> Result<Self, TrustError> {
        Self::with_provider(bundled, extra, provider())
    }

    /// The same with elliptic-curve key shares only: a first flight of one datagram, as before ML-KEM.
    pub fn without_post_quantum<T: AsRef<[u8]>>(
        bundled: &[T],
        extra: &[T],
    ) -> Result<Self, TrustError> {
        use rustls::crypto::aws_lc_rs::kx_group;
        let kx_groups = vec![kx_group::X25519, kx_group::SECP256R1, kx_group::SECP384R1];
        let provider = CryptoProvider {
            kx_groups,
            ..provider()
        };
        Self::with_provider(bundled, extra, provider)
    }

    fn with_provider<T: AsRef<[u8]>>(
        bundled: &[T],
        extra: &[T],
        provider: CryptoProvider,
    ) -> Result<Self, TrustError> {
        let provider = Arc::new(provider);
        let mut ignored = 0;
        let mut roots = RootCertStore::empty();
        ignored += add(&mut roots, "bundled", bundled)?;
        let known = match roots.is_empty() {
            true => None,
            false => Some(verifier(roots.clone(), &provider)?),
        };
        ignored += add(&mut roots, "extra", extra)?;
        if roots.is_empty() {
            return Err(TrustError::NoRoots);
        }
        Ok(Self {
            chain_verifier: Arc::new(ChainVerifier {
                accepted: AcceptedChains::default(),
                all: verifier(roots, &provider)?,
                bundled: known,
            }),
            provider,
            ignored,
        })
    }

    /// Verifies a chain received elsewhere, as DER in the order it was sent, by the rules of an attempt: returns
    /// whether it ends in a publicly known root, or why it is refused.
    pub fn verify(&self, host: &str, chain: &[&[u8]]) -> Result<bool, Refusal> {
        let other = |message: &str| Refusal {
            reason: CertificateReason::Other,
            message: message.to_owned(),
        };
        let chain: Vec<_> = chain.iter().map(|der| CertificateDer::from(*der)).collect();
        let (end_entity, intermediates) = chain
            .split_first()
            .ok_or_else(|| other("the server sent no certificate"))?;
        let name =
            ServerName::try_from(host).map_err(|_| other("no certificate names the host"))?;
        self.chain_verifier
            .verify(end_entity, intermediates, &name, &[], UnixTime::now())
            .map_err(|error| Refusal::from(&error))
    }

    /// How many certificates could not be used as roots.
    pub fn ignored(&self) -> usize {
        self.ignored
    }

    /// A verifier for one attempt.
    pub(crate) fn verifier(&self) -> Arc<RecordingVerifier> {
        Arc::new(RecordingVerifier {
            chain_verifier: self.chain_verifier.clone(),
            verdict: OnceLock::new(),
        })
    }
}

/// The roots of the operating system, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name, as DER. What cannot be read
/// is left out: without a list of its own, a system trusts the bundled one alone.
pub fn system_roots() -> Vec<CertificateDer<'static>> {
    rustls_native_certs::load_native_certs().certs
}

/// Unusable roots.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    #[error("{list}[{index}] is not a certificate: {problem}")]
    NoCertificate {
        list: &'static str,
        index: usize,
        problem: String,
    },
    #[error("the trust store holds no usable root certificate")]
    NoRoots,
    #[error("the roots cannot be used: {0}")]
    Verifier(#[from] VerifierBuilderError),
}

/// AES-128 first, as browsers do and the TCP transport does: its key schedule uses SHA-256, which processors compute.
fn provider() -> CryptoProvider {
    let mut provider = rustls::crypto::aws_lc_rs::default_provider();
    provider
        .cipher_suites
        .sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    provider
}

/// Performs the cryptography's one-time initialisation per process and thread, which would count towards the first
/// attempt.
pub fn warm_up() {
    for group in rustls::crypto::aws_lc_rs::default_provider().kx_groups {
        let _ = group.start();
    }
}

/// The result for the peer's chain.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It ends in a trusted root; `known_root`: in one of the bundled ones.
    Accepted { known_root: bool },
    /// It was refused.
    Refused(Refusal),
}

impl ChainVerifier {
    /// Whether the chain ends in a publicly known root; judged anew unless just this one was accepted a moment ago.
    fn verify(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<bool, CertificateError> {
        let chain: Vec<_> = std::iter::once(end_entity).chain(intermediates).collect();
        if let Some(known_root) = self.accepted.find(name, &chain, now) {
            return Ok(known_root);
        }
        let known_root = self.judge(end_entity, intermediates, name, ocsp_response, now)?;
        self.accepted.add(name, &chain, now, known_root);
        Ok(known_root)
    }

    /// webpki's verification, against the bundled list first, and then our own rules. Returns whether that list
    /// sufficed.
    fn judge(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<bool, CertificateError> {
        let verify = |verifier: &Arc<WebPkiServerVerifier>| {
            verifier.verify_server_cert(end_entity, intermediates, name, ocsp_response, now)
        };
        let known_root = self
            .bundled
            .as_ref()
            .is_some_and(|bundled| verify(bundled).is_ok());
        if !known_root {
            verify(&self.all).map_err(|error| match error {
                rustls::Error::InvalidCertificate(error) => error,
                _ => CertificateError::BadEncoding,
            })?;
        }
        key_rules::check(end_entity, intermediates)
            .map_err(|broken| CertificateError::Other(OtherError(Arc::new(broken))))?;
        Ok(known_root)
    }
}

/// The chain verifier, which records its result.
#[derive(Debug)]
pub(crate) struct RecordingVerifier {
    chain_verifier: Arc<ChainVerifier>,
    verdict: OnceLock<Verdict>,
}

impl RecordingVerifier {
    /// The result, once the peer has sent its chain.
    pub(crate) fn verdict(&self) -> Option<&Verdict> {
        self.verdict.get()
    }
}

impl ServerCertVerifier for RecordingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let result =
            self.chain_verifier
                .verify(end_entity, intermediates, server_name, ocsp_response, now);
        let (verdict, result) = match result {
            Ok(known_root) => (
                Verdict::Accepted { known_root },
                Ok(ServerCertVerified::assertion()),
            ),
            Err(error) => (Verdict::Refused((&error).into()), Err(error.into())),
        };
        let _ = self.verdict.set(verdict);
        result
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chain_verifier
            .all
            .verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chain_verifier
            .all
            .verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain_verifier.all.supported_verify_schemes()
    }
}

fn verifier(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, TrustError> {
    Ok(WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build()?)
}

fn add<T: AsRef<[u8]>>(
    roots: &mut RootCertStore,
    list: &'static str,
    entries: &[T],
) -> Result<usize, TrustError> {
    let mut ignored = 0;
    let now = UnixTime::now();
    for (index, entry) in entries.iter().enumerate() {
        let certificates = parse(entry.as_ref()).map_err(|problem| TrustError::NoCertificate {
            list,
            index,
            problem,
        })?;
        let total = certificates.len();
        let in_force = certificates
            .into_iter()
            .filter(|root| key_rules::in_force(root, now));
        ignored += total - roots.add_parsable_certificates(in_force).0;
    }
    Ok(ignored)
}

fn parse(entry: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    // Every DER certificate starts with the tag of a SEQUENCE; no PEM text does.
    const DER_SEQUENCE: u8 = 0x30;
    if entry.first() == Some(&DER_SEQUENCE) {
        return Ok(vec![CertificateDer::from(entry.to_vec())]);
    }
    let certificates = CertificateDer::pem_slice_iter(entry)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| error.to_string())?;
    match certificates.is_empty() {
        true => Err("it holds no PEM block".to_owned()),
        false => Ok(certificates),
    }
}

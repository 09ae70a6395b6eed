//! TLS as in P1: an RSA certificate and ECDHE-RSA-AES128-GCM-SHA256, or TLS 1.3 with the same parts;
//! nothing is resumed.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair, PKCS_RSA_SHA256, RsaKeySize};
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::{cipher_suite, default_provider, kx_group};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::NoServerSessionStorage;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::Failure;

pub const HOST: &str = "server.test";
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
enum Version {
    #[serde(rename = "1.2")]
    Tls12,
    #[serde(rename = "1.3")]
    Tls13,
}

/// A client's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TlsSettings {
    version: Version,
    /// The server's, the only one that is trusted.
    certificate_path: PathBuf,
}

impl TlsSettings {
    pub fn connector(&self) -> Result<TlsConnector, Failure> {
        let config = client(self.version, &self.certificate_path)?;
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

/// The client's handshake with the server.
pub async fn handshake<Stream: AsyncRead + AsyncWrite + Unpin>(
    connector: &TlsConnector,
    stream: Stream,
) -> io::Result<TlsStream<Stream>> {
    let name = ServerName::try_from(HOST).map_err(io::Error::other)?;
    connector.connect(name, stream).await
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: vec![
            cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            cipher_suite::TLS13_AES_128_GCM_SHA256,
        ],
        kx_groups: vec![kx_group::SECP256R1],
        ..default_provider()
    })
}

/// The certificate in that folder, issued unless an earlier run has; both versions.
pub fn server(dir: &Path) -> Result<(ServerConfig, PathBuf), Failure> {
    let certificate_path = dir.join(CERTIFICATE);
    if !certificate_path.exists() {
        issue(dir)?;
    }
    let certificate = CertificateDer::from_pem_file(&certificate_path)?;
    let key = PrivateKeyDer::from_pem_file(dir.join(KEY))?;
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS12, &TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok((config, certificate_path))
}

fn issue(dir: &Path) -> Result<(), Failure> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)?;
    let key = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048)?;
    let certificate = CertificateParams::new([HOST.to_owned()])?.self_signed(&key)?;
    write_private(&dir.join(KEY), &key.serialize_pem())?;
    fs::write(dir.join(CERTIFICATE), certificate.pem())?;
    Ok(())
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    io::Write::write_all(&mut file, text.as_bytes())
}

/// For a server with the certificate at that path.
fn client(version: Version, certificate_path: &Path) -> Result<ClientConfig, Failure> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate_path)?)?;
    let version = match version {
        Version::Tls12 => &TLS12,
        Version::Tls13 => &TLS13,
    };
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[version])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(config)
}

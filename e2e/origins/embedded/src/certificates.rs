//! A temporary certificate authority and one leaf per host, also as files for other servers.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose, PublicKeyData,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use serde::Serialize;
use time::{Duration, OffsetDateTime};

use crate::Failure;

/// Long enough for a day of work on a suspended laptop, short enough to be worthless to a thief.
const LIFETIME: Duration = Duration::days(30);

const CA_FILE: &str = "ca.pem";
const CA_SPKI_FILE: &str = "ca.spki";

pub struct Authority {
    pub ca_path: PathBuf,
    /// SHA-256 of the CA's public key, base64.
    pub ca_spki: String,
    pub leaves: BTreeMap<String, Leaf>,
}

pub struct Leaf {
    pub chain: Vec<CertificateDer<'static>>,
    pub key: PrivateKeyDer<'static>,
    pub files: LeafFiles,
}

#[derive(Serialize, Clone)]
#[serde(rename_all = "camelCase")]
pub struct LeafFiles {
    pub cert_path: PathBuf,
    pub key_path: PathBuf,
    /// SHA-256 of the leaf's public key, base64: the format of Chromium's
    /// `--ignore-certificate-errors-spki-list`.
    pub spki: String,
}

/// Creates a CA and a leaf for every host, and writes them to `dir`.
///
/// Each leaf is also valid for `localhost` and the loopback addresses. The CA's key is not kept.
pub fn issue<'a>(dir: &Path, hosts: impl Iterator<Item = &'a str>) -> Result<Authority, Failure> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)?;
    let authority = CertifiedIssuer::self_signed(authority_params(), KeyPair::generate()?)?;
    let ca_path = dir.join(CA_FILE);
    fs::write(&ca_path, authority.pem())?;

    let mut leaves = BTreeMap::new();
    for host in hosts {
        if !leaves.contains_key(host) {
            leaves.insert(host.to_owned(), issue_leaf(dir, host, &authority)?);
        }
    }
    let ca_spki = spki_digest(authority.key());
    fs::write(dir.join(CA_SPKI_FILE), &ca_spki)?;
    Ok(Authority {
        ca_path,
        ca_spki,
        leaves,
    })
}

/// Reads what `issue` wrote to `dir`, for hosts that were given to it.
pub fn read<'a>(dir: &Path, hosts: impl Iterator<Item = &'a str>) -> Result<Authority, Failure> {
    let mut leaves = BTreeMap::new();
    for host in hosts {
        let leaf = read_leaf(dir, host)
            .map_err(|error| format!("no certificate for {host} in {}: {error}", dir.display()))?;
        leaves.insert(host.to_owned(), leaf);
    }
    Ok(Authority {
        ca_path: dir.join(CA_FILE),
        ca_spki: fs::read_to_string(dir.join(CA_SPKI_FILE))?,
        leaves,
    })
}

fn read_leaf(dir: &Path, host: &str) -> Result<Leaf, Failure> {
    let (cert_path, key_path) = leaf_paths(dir, host);
    let key = KeyPair::from_pem(&fs::read_to_string(&key_path)?)?;
    let certificate = CertificateDer::from_pem_file(&cert_path)?;
    Ok(leaf(certificate, &key, cert_path, key_path))
}

fn issue_leaf(
    dir: &Path,
    host: &str,
    authority: &CertifiedIssuer<'_, KeyPair>,
) -> Result<Leaf, Failure> {
    let key = KeyPair::generate()?;
    let certificate = leaf_params(host)?.signed_by(&key, authority)?;
    let (cert_path, key_path) = leaf_paths(dir, host);
    fs::write(&cert_path, certificate.pem())?;
    write_private(&key_path, &key.serialize_pem())?;
    Ok(leaf(certificate.der().clone(), &key, cert_path, key_path))
}

fn leaf_paths(dir: &Path, host: &str) -> (PathBuf, PathBuf) {
    (
        dir.join(format!("{host}.pem")),
        dir.join(format!("{host}.key")),
    )
}

fn leaf(
    certificate: CertificateDer<'static>,
    key: &KeyPair,
    cert_path: PathBuf,
    key_path: PathBuf,
) -> Leaf {
    Leaf {
        chain: vec![certificate],
        files: LeafFiles {
            cert_path,
            key_path,
            spki: spki_digest(key),
        },
        key: PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
    }
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = named("Photofinish throw-away CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    set_validity(&mut params);
    params
}

fn leaf_params(host: &str) -> Result<CertificateParams, rcgen::Error> {
    let names = [host, "localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = named(host);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    set_validity(&mut params);
    Ok(params)
}

fn named(common_name: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common_name);
    name
}

fn set_validity(params: &mut CertificateParams) {
    let now = OffsetDateTime::now_utc();
    params.not_before = now - Duration::days(1);
    params.not_after = now + LIFETIME;
}

fn spki_digest(key: &KeyPair) -> String {
    STANDARD.encode(digest::digest(
        &digest::SHA256,
        &key.subject_public_key_info(),
    ))
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())
}

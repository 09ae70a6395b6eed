//! A QUIC client with nothing of ours in it, for the benchmarks: handshakes one after the other over IPv4, each
//! over an endpoint of its own, and prints the milliseconds each took as one JSON array.
//!
//! Arguments: ADDRESS:PORT SERVER-NAME CA.pem COUNT

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use quinn::crypto::rustls::QuicClientConfig;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

fn client_config(ca_path: &str) -> Result<quinn::ClientConfig, Box<dyn Error>> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca_path)? {
        roots.add(certificate?)?;
    }
    let mut tls = rustls::ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    // A resumed handshake would be another, quicker one.
    tls.resumption = rustls::client::Resumption::disabled();
    Ok(quinn::ClientConfig::new(Arc::new(
        QuicClientConfig::try_from(tls)?,
    )))
}

async fn handshake(
    config: &quinn::ClientConfig,
    remote: SocketAddr,
    name: &str,
) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    let endpoint = quinn::Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into())?;
    let connection = endpoint.connect_with(config.clone(), remote, name)?.await?;
    let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
    // Waiting until it is idle would take three probe time-outs, and the next handshake would start on a cold CPU.
    connection.close(0u32.into(), b"");
    Ok(milliseconds)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [remote, name, ca_path, count] = arguments.as_slice() else {
        return Err("usage: bare_quinn ADDRESS:PORT SERVER-NAME CA.pem COUNT".into());
    };
    let (remote, count) = (remote.parse()?, count.parse()?);
    rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .map_err(|_| "another cryptography provider is in place")?;
    let config = client_config(ca_path)?;
    let mut milliseconds = Vec::with_capacity(count);
    for _ in 0..count {
        milliseconds.push(handshake(&config, remote, name).await?.to_string());
    }
    println!("[{}]", milliseconds.join(","));
    Ok(())
}

//! A QUIC client with nothing of ours in it, for benchmarks and the laboratory: handshakes one after the other over
//! IPv4, each over an endpoint of its own, at quinn's defaults. Prints them as the laboratory's trials, one JSON array.
//!
//! Arguments: ADDRESS:PORT SERVER-NAME CA.pem COUNT DEADLINE-MS

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    // A resumed handshake would be a different, faster one.
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
    connection.close(0u32.into(), b"");
    Ok(milliseconds)
}

/// One trial as JSON, in a separate runtime, with which its endpoint and socket end.
fn trial(
    config: &quinn::ClientConfig,
    remote: SocketAddr,
    name: &str,
    deadline: Duration,
) -> Result<String, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(async {
        let outcome = tokio::time::timeout(deadline, handshake(config, remote, name)).await;
        // Lets the connection's task send its close. Waiting until the endpoint is idle would take three probe
        // time-outs, after which the next handshake would start on a cold CPU.
        tokio::task::yield_now().await;
        outcome
    });
    Ok(match outcome {
        Ok(Ok(milliseconds)) => {
            format!(r#"{{"adopted":"h3","establishedMs":{milliseconds},"firstByteMs":null}}"#)
        }
        Ok(Err(error)) => failed(&error.to_string()),
        Err(_) => failed("the deadline has passed"),
    })
}

fn failed(why: &str) -> String {
    let why = why.replace(|c: char| c.is_control() || c == '"' || c == '\\', " ");
    format!(r#"{{"adopted":null,"establishedMs":null,"firstByteMs":null,"error":"{why}"}}"#)
}

const USAGE: &str = "usage: bare_quinn ADDRESS:PORT SERVER-NAME CA.pem COUNT DEADLINE-MS";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [remote, name, ca_path, count, deadline] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    let (remote, count) = (remote.parse()?, count.parse()?);
    let deadline = Duration::from_millis(deadline.parse()?);
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    // Gathers entropy on first use, which takes some 30 ms once per process and is no handshake's cost.
    provider
        .secure_random
        .fill(&mut [0])
        .map_err(|_| "there are no random numbers")?;
    provider
        .install_default()
        .map_err(|_| "another cryptography provider is in place")?;
    let config = client_config(ca_path)?;
    let mut trials = Vec::with_capacity(count);
    for _ in 0..count {
        trials.push(trial(&config, remote, name, deadline)?);
    }
    println!("[{}]", trials.join(","));
    Ok(())
}

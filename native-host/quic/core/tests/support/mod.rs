//! Real peers on loopback for the tests: our own certificates, QUIC servers, and an HTTP/3 site.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h3::error::Code;
use photofinish_quic::{AttemptFailure, ConnectOptions, Request, ServerName, Side, TrustStore};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use time::OffsetDateTime;

pub const HOST: &str = "h3.test";
/// Longer than any test may take: a test that ends earlier noticed the event instead of waiting for this.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Short enough to wait for.
pub const SHORT: Duration = Duration::from_millis(80);
pub const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A certificate authority that exists for one test.
pub struct Authority {
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub fn new() -> Self {
        Self::named("Photofinish test root")
    }

    pub fn named(name: &str) -> Self {
        let key = KeyPair::generate().expect("key");
        let mut params = CertificateParams::new(Vec::new()).expect("params");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("root").pem();
        Self {
            pem,
            issuer: Issuer::new(params, key),
        }
    }

    /// A server's chain and key for `name`, valid from and to this many days from now.
    pub fn issue(&self, name: &str, from: i64, to: i64) -> Identity {
        let key = KeyPair::generate().expect("key");
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("params");
        params.not_before = OffsetDateTime::now_utc() + time::Duration::days(from);
        params.not_after = OffsetDateTime::now_utc() + time::Duration::days(to);
        let leaf = params.signed_by(&key, &self.issuer).expect("leaf");
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Identity {
            chain: vec![leaf.der().clone()],
            key,
        }
    }

    pub fn identity(&self) -> Identity {
        self.issue(HOST, -1, 30)
    }

    /// Trusts this authority as a private one.
    pub fn trust(&self) -> TrustStore {
        TrustStore::new(&[], &[&self.pem]).expect("trust")
    }
}

pub struct Identity {
    pub chain: Vec<CertificateDer<'static>>,
    pub key: PrivateKeyDer<'static>,
}

pub fn tls(identity: Identity, alpn: &str) -> rustls::ServerConfig {
    let mut tls = rustls::ServerConfig::builder_with_provider(Arc::new(
        rustls::crypto::aws_lc_rs::default_provider(),
    ))
    .with_protocol_versions(&[&rustls::version::TLS13])
    .expect("versions")
    .with_no_client_auth()
    .with_single_cert(identity.chain, identity.key)
    .expect("certificate");
    tls.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    tls
}

pub fn quic(tls: rustls::ServerConfig) -> quinn::ServerConfig {
    let crypto = quinn::crypto::rustls::QuicServerConfig::try_from(tls).expect("tls for quic");
    quinn::ServerConfig::with_crypto(Arc::new(crypto))
}

/// A QUIC endpoint on a free port of the loopback.
pub fn endpoint(config: quinn::ServerConfig) -> (quinn::Endpoint, SocketAddr) {
    let endpoint = quinn::Endpoint::server(config, LOOPBACK).expect("endpoint");
    let address = endpoint.local_addr().expect("address");
    (endpoint, address)
}

/// A QUIC server with an identity of `authority` that speaks `alpn`.
pub fn server(authority: &Authority, alpn: &str) -> (quinn::Endpoint, SocketAddr) {
    endpoint(quic(tls(authority.identity(), alpn)))
}

/// The first connection that arrives at `endpoint`.
pub async fn accept(endpoint: &quinn::Endpoint) -> quinn::Connection {
    endpoint
        .accept()
        .await
        .expect("incoming")
        .await
        .expect("handshake")
}

/// An HTTP/3 site whose answer is selected by the path. Serves until its endpoint is dropped.
pub fn site(authority: &Authority) -> SocketAddr {
    serving(server(authority, "h3"))
}

/// The same, with connections that end after this long without a packet.
pub fn impatient_site(authority: &Authority, idle_timeout: Duration) -> SocketAddr {
    let mut transport = quinn::TransportConfig::default();
    transport.max_idle_timeout(Some(idle_timeout.try_into().expect("a time-out")));
    let mut config = quic(tls(authority.identity(), "h3"));
    config.transport_config(Arc::new(transport));
    serving(endpoint(config))
}

/// Serves the site until its endpoint is dropped.
pub fn serving((endpoint, address): (quinn::Endpoint, SocketAddr)) -> SocketAddr {
    tokio::spawn(async move {
        while let Some(incoming) = endpoint.accept().await {
            tokio::spawn(async move {
                if let Ok(connection) = incoming.await {
                    serve(connection).await;
                }
            });
        }
    });
    address
}

async fn serve(quic: quinn::Connection) {
    let incoming = h3_quinn::Connection::new(quic.clone());
    // A client may leave after the handshake.
    let Ok(mut connection) = h3::server::Connection::<_, Bytes>::new(incoming).await else {
        return;
    };
    while let Ok(Some(resolver)) = connection.accept().await {
        let (request, mut stream) = resolver.resolve_request().await.expect("request");
        let answer = |status: u16| http::Response::builder().status(status);
        match request.uri().path() {
            "/silent" => std::future::pending().await,
            "/close" => quic.close(0x0102_u32.into(), b"enough"),
            "/rejected" => stream.stop_stream(Code::H3_REQUEST_REJECTED),
            "/older" => stream.stop_stream(Code::H3_VERSION_FALLBACK),
            "/hinted" => {
                let interim = answer(103).header("alt-svc", "h3=\":8443\"").body(());
                let cached = answer(204).header("age", "7200").body(());
                for response in [interim, cached] {
                    let response = response.expect("response");
                    stream.send_response(response).await.expect("headers");
                }
                let _ = stream.finish().await;
            }
            "/broken" => stream.stop_stream(Code::H3_INTERNAL_ERROR),
            "/going" => {
                connection.shutdown(0).await.expect("goaway");
                // A close discards data not sent yet.
                tokio::time::sleep(Duration::from_millis(20)).await;
                quic.close(0x100_u32.into(), b"");
            }
            path => {
                if path == "/late" {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                if path == "/interim" {
                    let interim = answer(103).header("alt-svc", "clear").body(());
                    stream
                        .send_response(interim.expect("interim"))
                        .await
                        .expect("103");
                }
                let agent = request.headers()[http::header::USER_AGENT].clone();
                let response = answer(200)
                    .header("alt-svc", "h3=\":443\"; ma=60")
                    .header("alt-svc", "h3=\":8443\"")
                    .header("age", "7")
                    .header("x-agent", agent)
                    .body(());
                stream
                    .send_response(response.expect("response"))
                    .await
                    .expect("headers");
                let size = if path == "/big" { 1 << 20 } else { 5 };
                // The client may have read enough before all is sent.
                let _ = stream.send_data(Bytes::from(vec![b'x'; size])).await;
                let _ = stream.finish().await;
            }
        }
    }
}

/// Connect options for `address` under [`HOST`], with more time than any test needs.
pub fn options(address: SocketAddr) -> ConnectOptions {
    options_within(address, PATIENCE)
}

pub fn options_within(address: SocketAddr, handshake_timeout: Duration) -> ConnectOptions {
    ConnectOptions::new(address, ServerName::try_from(HOST).expect("name"))
        .initial_rtt(Duration::from_millis(25))
        .handshake_timeout(handshake_timeout)
}

/// A request for `path` with room for 64 KiB of body and 4 KiB of header.
pub fn request(path: &str) -> Request {
    request_within(path, PATIENCE)
}

pub fn request_within(path: &str, deadline: Duration) -> Request {
    Request::get(HOST, path)
        .expect("request")
        .max_body_bytes(65_536)
        .max_header_bytes(4096)
        .deadline(deadline)
}

/// The code that ended the attempt on the wire: who sent it, and its name.
pub fn wire_code(failure: &AttemptFailure) -> Option<(Side, u64, &str)> {
    let code = failure.cause.error_code()?;
    Some((code.sender, code.number, code.name.as_deref()?))
}

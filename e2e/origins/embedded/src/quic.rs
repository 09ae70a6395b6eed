//! HTTP/3: accepts QUIC connections and passes each request to the site.

use std::net::UdpSocket;
use std::sync::Arc;

use bytes::Bytes;
use h3::server::RequestResolver;
use quinn::crypto::rustls::QuicServerConfig;

use crate::Failure;
use crate::certificates::Leaf;
use crate::site::{Protocol, Site};

type H3Connection = h3::server::Connection<h3_quinn::Connection, Bytes>;

/// The QUIC side of an origin. Must be called inside the runtime.
pub fn endpoint(socket: UdpSocket, leaf: &Leaf) -> Result<quinn::Endpoint, Failure> {
    let mut tls = rustls::ServerConfig::builder_with_protocol_versions(&[&rustls::version::TLS13])
        .with_no_client_auth()
        .with_single_cert(leaf.chain.clone(), leaf.key.clone_key())?;
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let crypto = Arc::new(QuicServerConfig::try_from(tls)?);
    let config = quinn::ServerConfig::with_crypto(crypto);
    let runtime = Arc::new(quinn::TokioRuntime);
    Ok(quinn::Endpoint::new(
        quinn::EndpointConfig::default(),
        Some(config),
        socket,
        runtime,
    )?)
}

/// Serves until the endpoint is closed.
pub async fn serve(endpoint: quinn::Endpoint, site: Arc<Site>) {
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(serve_connection(incoming, Arc::clone(&site)));
    }
}

// As on TCP, a failed connection affects only its peer.
async fn serve_connection(incoming: quinn::Incoming, site: Arc<Site>) {
    let Ok(connection) = incoming.await else {
        return;
    };
    let connection = H3Connection::new(h3_quinn::Connection::new(connection)).await;
    let Ok(mut connection) = connection else {
        return;
    };
    while let Ok(Some(request)) = connection.accept().await {
        tokio::spawn(serve_request(request, Arc::clone(&site)));
    }
}

async fn serve_request(
    request: RequestResolver<h3_quinn::Connection, Bytes>,
    site: Arc<Site>,
) -> Result<(), h3::error::StreamError> {
    let (request, mut stream) = request.resolve_request().await?;
    // Read to the end: dropping an unread stream would tell the browser to stop sending.
    while stream.recv_data().await?.is_some() {}
    let (head, body) = site
        .answer(request.method(), request.uri(), Protocol::H3)
        .await
        .into_parts();
    stream
        .send_response(http::Response::from_parts(head, ()))
        .await?;
    if !body.is_empty() {
        stream.send_data(body).await?;
    }
    stream.finish().await
}

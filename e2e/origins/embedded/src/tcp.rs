//! HTTP/2 and HTTP/1.1 over TLS: accepts connections and passes each request to the site.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::Failure;
use crate::certificates::Leaf;
use crate::settings::TcpProtocol;
use crate::site::{Protocol, Site};

/// Pause after a failed accept (the process is out of descriptors) before the next try.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// The TLS configuration of a TCP origin: its leaf and the protocols it offers, in order of
/// preference.
pub fn acceptor(leaf: &Leaf, protocols: &[TcpProtocol]) -> Result<TlsAcceptor, Failure> {
    let mut tls = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(leaf.chain.clone(), leaf.key.clone_key())?;
    tls.alpn_protocols = protocols
        .iter()
        .map(|protocol| protocol.alpn().into())
        .collect();
    Ok(TlsAcceptor::from(Arc::new(tls)))
}

/// Serves until the process ends.
pub async fn serve(listener: TcpListener, acceptor: TlsAcceptor, site: Arc<Site>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(serve_connection(
                    stream,
                    acceptor.clone(),
                    Arc::clone(&site),
                ));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

// A connection's errors (refused certificates, cancelled races) affect only its peer: the origin
// serves the next one and logs nothing.
async fn serve_connection(stream: TcpStream, acceptor: TlsAcceptor, site: Arc<Site>) {
    let _ = stream.set_nodelay(true);
    let Ok(tls) = acceptor.accept(stream).await else {
        return;
    };
    let service = service_fn(|request: Request<Incoming>| {
        let site = Arc::clone(&site);
        async move {
            let (parts, mut body) = request.into_parts();
            while let Some(Ok(_)) = body.frame().await {}
            let protocol = match parts.version {
                Version::HTTP_2 => Protocol::H2,
                _ => Protocol::Http1,
            };
            let response: http::Response<Bytes> =
                site.answer(&parts.method, &parts.uri, protocol).await;
            Ok::<_, Infallible>(response.map(Full::new))
        }
    });
    let _ = auto::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(tls), service)
        .await;
}

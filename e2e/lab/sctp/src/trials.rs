//! Cold connections one after the other, as `adoption` measures them: until the connection can be
//! used, with TLS until its handshake has ended, and whether a request succeeds on it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

use crate::summary::code_of;
use crate::tls::{self, HOST, TlsSettings};
use crate::transport::{Candidate, Dialler};
use crate::{Failure, http};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrialsSettings {
    candidate: Candidate,
    port: u16,
    encapsulation_port: u16,
    /// Null: without TLS.
    tls: Option<TlsSettings>,
    object_bytes: usize,
    trials: usize,
    deadline_ms: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// Null if it failed.
    adopted: Option<&'static str>,
    established_ms: Option<f64>,
    first_byte_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

/// What `adoption` calls the protocol of an HTTP/1.0 connection.
const PROTOCOL: &str = "http/1.0";
/// Longer than a lossy shutdown usually takes.
const DRAIN: Duration = Duration::from_secs(2);

pub async fn trials(settings: TrialsSettings) -> Result<Vec<Trial>, Failure> {
    let connector = settings.tls.as_ref().map(TlsSettings::connector);
    let connector = connector.transpose()?;
    let candidates = std::iter::once(settings.candidate);
    let dialler = Dialler::open(candidates, settings.port, settings.encapsulation_port).await?;
    let mut all = Vec::with_capacity(settings.trials);
    for _ in 0..settings.trials {
        let limit = Duration::from_millis(settings.deadline_ms);
        let tried = timeout(limit, attempt(&dialler, connector.as_ref(), &settings)).await;
        all.push(match tried {
            Ok(Ok(established)) => Trial {
                adopted: Some(PROTOCOL),
                established_ms: Some(established.as_secs_f64() * 1000.0),
                first_byte_ms: None,
                error: None,
            },
            Ok(Err(code)) => failed(code),
            Err(_) => failed("timed-out"),
        });
        dialler.drain(DRAIN).await;
    }
    Ok(all)
}

fn failed(code: &'static str) -> Trial {
    Trial {
        adopted: None,
        established_ms: None,
        first_byte_ms: None,
        error: Some(code),
    }
}

/// The time until it was established.
async fn attempt(
    dialler: &Dialler,
    connector: Option<&TlsConnector>,
    settings: &TrialsSettings,
) -> Result<Duration, &'static str> {
    let start = Instant::now();
    let connection = dialler.connect(settings.candidate, || ()).await;
    let connection = connection.map_err(|error| code_of(&error))?;
    connection.keep().map_err(|error| code_of(&error))?;
    let bytes = settings.object_bytes;
    let Some(connector) = connector else {
        let established = start.elapsed();
        return request(connection, bytes).await.map(|()| established);
    };
    let secure = tls::handshake(connector, connection).await;
    let secure = secure.map_err(|_| "tls")?;
    let established = start.elapsed();
    request(secure, bytes).await.map(|()| established)
}

async fn request(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    bytes: usize,
) -> Result<(), &'static str> {
    let got = http::get(&mut stream, HOST, bytes).await;
    got.map_err(|error| code_of(&error))?;
    // A late error says nothing about the response.
    let _ = stream.shutdown().await;
    Ok(())
}

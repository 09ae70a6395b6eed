//! The first half of an attempt: one QUIC handshake with one address. Nothing of HTTP/3 is sent.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::{HandshakeData, QuicClientConfig};
use quinn::{TransportConfig, VarInt};

use crate::cancel::Cancel;
use crate::clock::Clock;
use crate::failure::{AttemptFailure, Failure, Termination};
use crate::options::ConnectOptions;
use crate::socket::Traffic;
use crate::transport::Transport;
use crate::trust::{RecordingVerifier, TrustStore, Verdict};

/// The QUIC version offered, and so that of every established connection (RFC 9000 section 15).
pub const QUIC_VERSION: u32 = 1;
/// HTTP/3's name in ALPN (RFC 9114 section 3.1).
pub(crate) const ALPN_H3: &[u8] = b"h3";
/// Unacknowledged bytes that a peer may send: a race reads little, so a small window bounds memory.
pub(crate) const RECEIVE_WINDOW_BYTES: u32 = 256 * 1024;
/// An established connection is closed after this long without a packet, as in Chromium (`kIdleConnectionTimeout`); a
/// handshake that may take longer is not.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Unidirectional streams a server may open: its control stream, two for QPACK, and a few of reserved types, which must
/// be tolerated (RFC 9114 sections 6.2 and 6.2.3).
const SERVER_UNI_STREAMS: u32 = 16;

/// The result of a handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handshake {
    /// Since the attempt's start.
    pub after: Duration,
    pub traffic: Traffic,
    pub remote: SocketAddr,
    pub alpn: String,
    /// Whether the chain ends in a publicly known root, which browsers require for QUIC.
    pub known_root: bool,
    /// quinn's smoothed round-trip time; none: nothing has been acknowledged yet.
    pub rtt: Option<Duration>,
    /// Packets declared lost so far (RFC 9002 section 6.1).
    pub lost_packets: u64,
}

/// An established connection for one request. Dropping it closes it.
#[derive(Debug)]
pub struct Connection {
    pub(crate) handshake: Handshake,
    pub(crate) quic: quinn::Connection,
    pub(crate) transport: Transport,
    pub(crate) verifier: Arc<RecordingVerifier>,
    pub(crate) clock: Clock,
    pub(crate) cancel: Cancel,
}

impl Connection {
    /// The result of the handshake.
    pub fn handshake(&self) -> &Handshake {
        &self.handshake
    }
}

/// Performs a handshake with the address in `options`; all times count from this call, unless those name an earlier
/// moment. Fails for every reason in the network, the peer or the owner's `cancel`.
pub async fn connect(
    trust: &TrustStore,
    options: &ConnectOptions,
    cancel: &Cancel,
) -> Result<Connection, AttemptFailure> {
    let clock = options
        .counted_from
        .map_or_else(Clock::start, Clock::started_at);
    if cancel.is_cancelled() {
        return Err(Failure::Cancelled.into());
    }
    let verifier = trust.verifier();
    let config = client_config(trust, verifier.clone(), options)?;
    let on_first_in = options.on_first_datagram.clone();
    let opened = Transport::open(options.remote, clock, on_first_in);
    let mut transport = opened.map_err(|error| AttemptFailure {
        after: clock.elapsed(),
        ..Failure::from_opening(error).into()
    })?;
    match shake_hands(&mut transport, config, options, cancel, &verifier, clock).await {
        Ok((quic, handshake)) => {
            transport.hold(quic.clone());
            Ok(Connection {
                handshake,
                quic,
                transport,
                verifier,
                clock,
                cancel: cancel.clone(),
            })
        }
        Err(cause) => Err(AttemptFailure {
            after: clock.elapsed(),
            traffic: transport.socket.traffic(),
            ..cause.into()
        }),
    }
}

async fn shake_hands(
    transport: &mut Transport,
    config: quinn::ClientConfig,
    options: &ConnectOptions,
    cancel: &Cancel,
    verifier: &RecordingVerifier,
    clock: Clock,
) -> Result<(quinn::Connection, Handshake), Failure> {
    let socket = transport.socket.clone();
    let mut connecting = transport
        .endpoint
        .connect_with(config, options.remote, &options.server_name.to_str())
        .map_err(Failure::internal)?;
    let timed_out = || Failure::handshake_timeout(&socket.traffic());
    let quic = tokio::select! {
        biased;
        () = cancel.cancelled() => {
            return Err(match clock.is_at(options.handshake_timeout) {
                true => timed_out(),
                false => Failure::Cancelled,
            });
        }
        outcome = &mut connecting => outcome.map_err(|error| {
            transport.close_silently();
            Failure::from_connection(&error, verifier, timed_out)
        })?,
        error = socket.fatal_error() => {
            transport.close_silently();
            return Err(Failure::from_socket(error, "what came for the handshake"));
        }
        () = clock.reaches(options.handshake_timeout) => return Err(timed_out()),
    };
    let after = clock.elapsed();
    let alpn = negotiated_protocol(&quic).unwrap_or_default();
    if alpn != ALPN_H3 {
        let spoken = String::from_utf8_lossy(&alpn);
        return Err(Failure::AlpnMismatch(Termination::new(format!(
            "the server chose {spoken:?} instead of h3"
        ))));
    }
    let handshake = Handshake {
        after,
        traffic: socket.traffic(),
        remote: quic.remote_address(),
        alpn: String::from_utf8_lossy(&alpn).into_owned(),
        known_root: matches!(
            verifier.verdict(),
            Some(Verdict::Accepted { known_root: true })
        ),
        // Until its first sample quinn returns the configured value, which is not a measurement.
        rtt: Some(quic.rtt()).filter(|rtt| *rtt != options.initial_rtt),
        lost_packets: quic.stats().path.lost_packets,
    };
    Ok((quic, handshake))
}

fn negotiated_protocol(quic: &quinn::Connection) -> Option<Vec<u8>> {
    quic.handshake_data()?
        .downcast::<HandshakeData>()
        .ok()?
        .protocol
}

/// TLS 1.3 without resumption or early data, so that every attempt has the same cost.
fn client_config(
    trust: &TrustStore,
    verifier: Arc<RecordingVerifier>,
    options: &ConnectOptions,
) -> Result<quinn::ClientConfig, Failure> {
    let mut tls = rustls::ClientConfig::builder_with_provider(trust.provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(Failure::internal)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN_H3.to_vec()];
    tls.resumption = rustls::client::Resumption::disabled();
    tls.enable_early_data = false;

    let mut transport = TransportConfig::default();
    transport
        .initial_rtt(options.initial_rtt)
        .max_idle_timeout(Some(
            IDLE_TIMEOUT
                .max(options.handshake_timeout)
                .try_into()
                .map_err(Failure::internal)?,
        ))
        .keep_alive_interval(Some(options.keep_alive))
        .stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW_BYTES))
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW_BYTES))
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(SERVER_UNI_STREAMS))
        .datagram_receive_buffer_size(None)
        // One datagram per send keeps the count exact; probing for a larger MTU would add to it.
        .enable_segmentation_offload(false)
        .mtu_discovery_config(None);
    let crypto = QuicClientConfig::try_from(tls).map_err(Failure::internal)?;
    let mut config = quinn::ClientConfig::new(Arc::new(crypto));
    config
        .version(QUIC_VERSION)
        .transport_config(Arc::new(transport));
    Ok(config)
}

//! Every way a handshake can end, each provoked by a real peer on loopback.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use photofinish_quic::{
    AttemptFailure, Cancel, CertificateReason, Failure, Side, TrustStore, connect,
};
use quinn::ConnectionError;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use support::{
    Authority, HOST, LOOPBACK, SHORT, accept, endpoint, options, options_within, wire_code,
};
use tokio::net::UdpSocket;

async fn failure(trust: &TrustStore, options: &photofinish_quic::ConnectOptions) -> AttemptFailure {
    connect(trust, options, &Cancel::default())
        .await
        .map(|_| ())
        .expect_err("a failure")
}

#[tokio::test]
async fn a_handshake_gives_times_counts_and_the_peer() {
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    let accepted = tokio::spawn(async move { accept(&server).await.closed().await });
    let connection = connect(&authority.trust(), &options(address), &Cancel::default())
        .await
        .expect("handshake");
    let handshake = connection.handshake().clone();
    assert_eq!(handshake.alpn, "h3");
    assert_eq!(handshake.remote, address);
    assert!(!handshake.known_root);
    assert!(handshake.rtt.is_none_or(|rtt| rtt > Duration::ZERO));
    let traffic = handshake.traffic;
    let out = traffic.first_datagram_out.expect("out");
    let back = traffic.first_datagram_in.expect("in");
    assert!(Duration::ZERO < out && out <= back && back <= handshake.after);
    // The post-quantum key share makes the first flight two datagrams, like a browser's.
    assert!(traffic.datagrams_sent >= 3, "{traffic:?}");
    assert!(traffic.datagrams_received >= 1);
    drop(connection);
    accepted.await.expect("server");
}

#[tokio::test]
async fn times_count_from_the_moment_that_the_owner_names() {
    const WAITED: Duration = Duration::from_secs(5);
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    let accepted = tokio::spawn(async move { accept(&server).await });
    let asked_at = Instant::now() - WAITED;
    let options = options_within(address, 4 * WAITED).counted_from(asked_at);
    let connection = connect(&authority.trust(), &options, &Cancel::default())
        .await
        .expect("handshake");
    let handshake = connection.handshake();
    let out = handshake.traffic.first_datagram_out.expect("out");
    assert!(WAITED <= out && out <= handshake.after);
    drop(connection);
    accepted.await.expect("server");
}

#[tokio::test]
async fn the_first_datagram_is_told_of_once_and_silence_never() {
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    let accepted = tokio::spawn(async move { accept(&server).await });
    let told = Arc::new(AtomicU32::new(0));
    let count = told.clone();
    let tell = move || {
        count.fetch_add(1, Ordering::Relaxed);
    };
    let options = options(address).on_first_datagram(tell.clone());
    let connection = connect(&authority.trust(), &options, &Cancel::default())
        .await
        .expect("handshake");
    assert_eq!(told.load(Ordering::Relaxed), 1);
    drop(connection);
    accepted.await.expect("server");

    let silent = UdpSocket::bind(LOOPBACK).await.expect("socket");
    let address = silent.local_addr().expect("address");
    let options = options_within(address, SHORT).on_first_datagram(tell);
    assert_eq!(
        failure(&authority.trust(), &options).await.cause.code(),
        "udp-timeout"
    );
    assert_eq!(told.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn cancelled_at_the_deadline_is_the_deadlines_end() {
    let silent = UdpSocket::bind(LOOPBACK).await.expect("socket");
    let address = silent.local_addr().expect("address");
    let cancel = Cancel::default();
    let owner = cancel.clone();
    let authority = Authority::new();
    // Within the leeway from the very start.
    let options = options_within(address, Duration::from_millis(9));
    let trust = authority.trust();
    let (outcome, ()) = tokio::join!(connect(&trust, &options, &cancel), async move {
        owner.cancel();
    });
    assert_eq!(
        outcome.map(|_| ()).expect_err("a failure").cause.code(),
        "udp-timeout"
    );
}

#[test]
fn a_chain_met_elsewhere_is_judged_as_a_handshakes_is() {
    let authority = Authority::new();
    let other = Authority::named("Another");
    let trust = TrustStore::new(&[&other.pem], &[&authority.pem]).expect("trust");
    let chain = authority.identity().chain;
    let judged = |host: &str, chain: &[&[u8]]| trust.verify(host, chain).map_err(|no| no.reason);
    assert_eq!(judged(HOST, &[&chain[0]]), Ok(false));
    assert_eq!(judged(HOST, &[&other.identity().chain[0]]), Ok(true));
    assert_eq!(
        judged("other.test", &[&chain[0]]),
        Err(CertificateReason::WrongName)
    );
    let expired = authority.issue(HOST, -9, -1).chain;
    assert_eq!(
        judged(HOST, &[&expired[0]]),
        Err(CertificateReason::Expired)
    );
    for nonsense in [&[][..], &[&b"no certificate"[..]][..]] {
        assert_eq!(judged(HOST, nonsense), Err(CertificateReason::Other));
    }
}

#[tokio::test]
async fn nothing_of_http3_is_sent_before_a_request_and_closing_says_no_error() {
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    let first_stream = tokio::spawn(async move { accept(&server).await.accept_uni().await });
    let connection = connect(&authority.trust(), &options(address), &Cancel::default())
        .await
        .expect("handshake");
    drop(connection);
    let ended = first_stream.await.expect("server").expect_err("no stream");
    let ConnectionError::ApplicationClosed(close) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!(close.error_code.into_inner(), 0x100, "H3_NO_ERROR");
}

#[tokio::test]
async fn known_root_means_the_bundled_list_alone_verifies() {
    let authority = Authority::new();
    let other = Authority::named("Another");
    for (bundled, extra, expected) in [
        (&authority, &other, true),
        (&other, &authority, false),
        (&authority, &authority, true),
    ] {
        let (server, address) = support::server(&authority, "h3");
        let accepted = tokio::spawn(async move { accept(&server).await });
        let trust = TrustStore::new(&[&bundled.pem], &[&extra.pem]).expect("trust");
        let connection = connect(&trust, &options(address), &Cancel::default())
            .await
            .expect("handshake");
        assert_eq!(connection.handshake().known_root, expected);
        accepted.await.expect("server");
    }
}

#[tokio::test]
async fn der_roots_work_as_pem_ones_do() {
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    let accepted = tokio::spawn(async move { accept(&server).await });
    let der = {
        use rustls::pki_types::pem::PemObject;
        rustls::pki_types::CertificateDer::from_pem_slice(authority.pem.as_bytes()).expect("pem")
    };
    let trust = TrustStore::new(&[der.as_ref()], &[]).expect("trust");
    connect(&trust, &options(address), &Cancel::default())
        .await
        .expect("handshake");
    accepted.await.expect("server");
}

#[tokio::test]
async fn a_closed_port_is_refused_at_once() {
    let free = UdpSocket::bind(LOOPBACK)
        .await
        .expect("socket")
        .local_addr()
        .expect("address");
    let failure = failure(&Authority::new().trust(), &options(free)).await;
    assert_eq!(failure.cause.code(), "udp-refused");
    assert_eq!(failure.traffic.datagrams_received, 0);
    assert!(failure.after > Duration::ZERO);
}

#[tokio::test]
async fn an_unroutable_address_is_unreachable_at_once() {
    // 240.0.0.0/4 is reserved (RFC 1112 section 4); the kernel has no route to it, or refuses one.
    let nowhere = "255.255.255.255:9".parse().expect("address");
    let failure = failure(&Authority::new().trust(), &options(nowhere)).await;
    let code = failure.cause.code();
    assert!(["udp-unreachable", "no-route"].contains(&code), "{code}");
    assert_eq!(failure.traffic.datagrams_received, 0);
}

#[tokio::test]
async fn silence_is_a_udp_timeout_after_retransmissions() {
    let hole = UdpSocket::bind(LOOPBACK).await.expect("socket");
    let address = hole.local_addr().expect("address");
    let options = options_within(address, 4 * SHORT);
    let failure = failure(&Authority::new().trust(), &options).await;
    assert_eq!(failure.cause.code(), "udp-timeout");
    assert!(
        failure.traffic.datagrams_sent > 2,
        "the initial RTT was not honoured"
    );
    assert!(failure.after >= 4 * SHORT);
}

#[tokio::test]
async fn noise_without_a_handshake_is_a_handshake_timeout() {
    let noisy = UdpSocket::bind(LOOPBACK).await.expect("socket");
    let address = noisy.local_addr().expect("address");
    tokio::spawn(async move {
        let mut buffer = [0; 2048];
        while let Ok((_, peer)) = noisy.recv_from(&mut buffer).await {
            let _ = noisy.send_to(&[0x40; 40], peer).await;
        }
    });
    let failure = failure(&Authority::new().trust(), &options_within(address, SHORT)).await;
    assert_eq!(failure.cause.code(), "handshake-timeout");
    assert!(failure.traffic.datagrams_received > 0);
}

/// The first bytes of a Retry with this destination (RFC 9000 section 17.2.5), without a valid tag.
fn retry_to(destination: &[u8]) -> Vec<u8> {
    let mut retry = vec![
        0xff,
        0,
        0,
        0,
        1,
        u8::try_from(destination.len()).expect("id"),
    ];
    retry.extend_from_slice(destination);
    retry.extend_from_slice(&[0; 40]);
    retry
}

#[tokio::test]
async fn noise_that_looks_like_a_retry_is_none_unless_it_bears_our_connection_id() {
    for (own, expected) in [(false, "datagrams came back"), (true, "asked for a Retry")] {
        let noisy = UdpSocket::bind(LOOPBACK).await.expect("socket");
        let address = noisy.local_addr().expect("address");
        tokio::spawn(async move {
            let mut buffer = [0; 2048];
            while let Ok((_, peer)) = noisy.recv_from(&mut buffer).await {
                let source_at = 7 + usize::from(buffer[5]);
                let source = &buffer[source_at..source_at + usize::from(buffer[source_at - 1])];
                let destination = if own { source } else { &[7; 8] };
                for _ in 0..3 {
                    let _ = noisy.send_to(&retry_to(destination), peer).await;
                }
            }
        });
        let options = options_within(address, SHORT);
        let failure = failure(&Authority::new().trust(), &options).await;
        assert_eq!(failure.cause.code(), "handshake-timeout");
        assert!(failure.to_string().contains(expected), "{failure}");
        assert_eq!(failure.traffic.retries_received >= 2, own);
    }
}

#[tokio::test]
async fn a_peer_that_answers_a_first_flight_with_megabytes_is_not_read_to_the_end() {
    const MAX_BYTES: u32 = 320 * 1024;
    for size in [1200, 20] {
        let flooding = UdpSocket::bind(LOOPBACK).await.expect("socket");
        let address = flooding.local_addr().expect("address");
        let flood = tokio::spawn(async move {
            let (_, peer) = flooding.recv_from(&mut [0; 2048]).await.expect("initial");
            while flooding.send_to(&vec![0x40; size], peer).await.is_ok() {
                tokio::task::yield_now().await;
            }
        });
        let failure = failure(&Authority::new().trust(), &options(address)).await;
        flood.abort();
        assert_eq!(failure.cause.code(), "response-too-large", "{failure}");
        let received = failure.traffic.datagrams_received;
        assert!(received <= 4200, "{received} datagrams");
        assert!(received * u32::try_from(size).expect("size") <= MAX_BYTES);
        assert!(failure.traffic.datagrams_sent < 20);
    }
}

#[tokio::test]
async fn no_common_version_is_a_version_mismatch() {
    let future = UdpSocket::bind(LOOPBACK).await.expect("socket");
    let address = future.local_addr().expect("address");
    tokio::spawn(async move {
        let mut buffer = [0; 2048];
        while let Ok((length, peer)) = future.recv_from(&mut buffer).await {
            let reply = version_negotiation(&buffer[..length]);
            let _ = future.send_to(&reply, peer).await;
        }
    });
    let failure = failure(&Authority::new().trust(), &options(address)).await;
    assert_eq!(failure.cause.code(), "version-mismatch");
}

/// A Version Negotiation packet that answers `initial` (RFC 9000 section 17.2.1).
fn version_negotiation(initial: &[u8]) -> Vec<u8> {
    let destination_length = usize::from(initial[5]);
    let destination = &initial[6..6 + destination_length];
    let source_at = 7 + destination_length;
    let source_length = usize::from(initial[source_at - 1]);
    let source = &initial[source_at..source_at + source_length];
    let mut reply = vec![0x80, 0, 0, 0, 0, initial[source_at - 1]];
    reply.extend_from_slice(source);
    reply.push(initial[5]);
    reply.extend_from_slice(destination);
    reply.extend_from_slice(&0x6b33_43cf_u32.to_be_bytes()); // QUIC v2 only
    reply
}

#[tokio::test]
async fn another_protocol_is_an_alpn_mismatch() {
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "hq-interop");
    tokio::spawn(async move { server.accept().await.expect("incoming").await });
    let failure = failure(&authority.trust(), &options(address)).await;
    assert_eq!(failure.cause.code(), "alpn-mismatch");
    assert_eq!(
        wire_code(&failure),
        Some((Side::Server, 0x178, "no_application_protocol"))
    );
}

#[tokio::test]
async fn a_bad_certificate_says_why() {
    let authority = Authority::new();
    let stranger = Authority::named("A stranger");
    let impostor = Authority::new();
    for (identity, reason) in [
        (authority.issue(HOST, -30, -1), CertificateReason::Expired),
        (authority.issue(HOST, 1, 30), CertificateReason::NotYetValid),
        (
            authority.issue("other.test", -1, 30),
            CertificateReason::WrongName,
        ),
        (stranger.identity(), CertificateReason::UnknownIssuer),
        // A root of the same name, but with another key.
        (impostor.identity(), CertificateReason::BadSignature),
    ] {
        let (server, address) = endpoint(support::quic(support::tls(identity, "h3")));
        tokio::spawn(async move { server.accept().await.expect("incoming").await });
        let failure = failure(&authority.trust(), &options(address)).await;
        assert_eq!(failure.cause.code(), "certificate-invalid", "{failure}");
        let Failure::CertificateInvalid(refusal) = failure.cause else {
            panic!("{failure}")
        };
        assert_eq!(refusal.reason, reason, "{refusal}");
    }
}

#[derive(Debug)]
struct NoCertificate;

impl ResolvesServerCert for NoCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        None
    }
}

#[tokio::test]
async fn a_servers_tls_alert_is_named() {
    let authority = Authority::new();
    let mut tls = support::tls(authority.identity(), "h3");
    tls.cert_resolver = Arc::new(NoCertificate);
    let (server, address) = endpoint(support::quic(tls));
    tokio::spawn(async move { server.accept().await.expect("incoming").await });
    let failure = failure(&authority.trust(), &options(address)).await;
    assert_eq!(failure.cause.code(), "tls-alert", "{failure}");
    assert_eq!(
        wire_code(&failure),
        Some((Side::Server, 0x131, "access_denied"))
    );
}

#[tokio::test]
async fn a_server_that_refuses_gives_its_code() {
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    tokio::spawn(async move {
        server.accept().await.expect("incoming").refuse();
        server.wait_idle().await;
    });
    let failure = failure(&authority.trust(), &options(address)).await;
    assert_eq!(failure.cause.code(), "connection-closed");
    assert_eq!(
        wire_code(&failure),
        Some((Side::Server, 2, "CONNECTION_REFUSED"))
    );
}

#[tokio::test]
async fn cancelled_before_the_start_sends_nothing() {
    let hole = UdpSocket::bind(LOOPBACK).await.expect("socket");
    let cancel = Cancel::default();
    cancel.cancel();
    let options = options(hole.local_addr().expect("address"));
    let failure = connect(&Authority::new().trust(), &options, &cancel)
        .await
        .expect_err("failure");
    assert_eq!(failure.cause.code(), "cancelled");
    assert_eq!(failure.traffic.datagrams_sent, 0);
}

#[tokio::test]
async fn cancelled_in_the_handshake_ends_at_once_and_frees_the_socket() {
    let hole = UdpSocket::bind(LOOPBACK).await.expect("socket");
    let options = options(hole.local_addr().expect("address"));
    let cancel = Cancel::default();
    let attempt = tokio::spawn({
        let cancel = cancel.clone();
        async move {
            connect(&Authority::new().trust(), &options, &cancel)
                .await
                .map(|_| ())
        }
    });
    let (_, client) = hole.recv_from(&mut [0; 2048]).await.expect("initial");
    cancel.cancel();
    let failure = attempt.await.expect("task").expect_err("failure");
    assert_eq!(failure.cause.code(), "cancelled");
    until_free(client).await;
}

/// Resolves once `port` on loopback is not bound: the attempt's socket is closed.
async fn until_free(client: std::net::SocketAddr) {
    while UdpSocket::bind((std::net::Ipv4Addr::UNSPECIFIED, client.port()))
        .await
        .is_err()
    {
        tokio::task::yield_now().await;
    }
}

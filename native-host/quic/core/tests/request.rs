//! Every way a request can end after a good handshake, each provoked by a real peer on loopback.

mod support;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use photofinish_quic::{AttemptFailure, Cancel, Connection, Request, Response, Side, connect};
use quinn::ConnectionError;
use support::{
    Authority, HOST, SHORT, accept, impatient_site, options, options_within, request,
    request_within, site, wire_code,
};

async fn connected(authority: &Authority, address: SocketAddr) -> Connection {
    connect(&authority.trust(), &options(address), &Cancel::default())
        .await
        .expect("handshake")
}

async fn ask(message: &Request) -> Result<Response, AttemptFailure> {
    let authority = Authority::new();
    let address = site(&authority);
    connected(&authority, address).await.request(message).await
}

#[tokio::test]
async fn get_gives_status_headers_body_and_times_in_order() {
    let authority = Authority::new();
    let connection = connected(&authority, site(&authority)).await;
    let handshake = connection.handshake().after;
    let response = connection
        .request(&request("/?query=1"))
        .await
        .expect("response");
    assert_eq!(response.status, 200);
    assert_eq!(
        response.alt_svc.as_deref(),
        Some("h3=\":443\"; ma=60, h3=\":8443\"")
    );
    assert_eq!(response.age.as_deref(), Some("7"));
    assert_eq!(response.body_bytes, 5);
    assert!(!response.truncated);
    assert!(handshake <= response.request_sent);
    assert!(response.request_sent <= response.first_byte);
    assert!(response.first_byte <= response.done);
    assert!(response.rtt > Duration::ZERO);
    assert_eq!(response.lost_packets, 0);
}

#[tokio::test]
async fn an_interim_answer_is_not_the_answer() {
    let response = ask(&request("/interim")).await.expect("response");
    assert_eq!((response.status, response.body_bytes), (200, 5));
    assert_ne!(response.alt_svc.as_deref(), Some("clear"));
}

#[tokio::test]
async fn alt_svc_in_an_interim_answer_alone_is_read_without_the_age_of_the_final_one() {
    let response = ask(&request("/hinted")).await.expect("response");
    assert_eq!(response.alt_svc.as_deref(), Some("h3=\":8443\""));
    assert_eq!(response.age, None);
}

#[tokio::test]
async fn a_request_that_is_wanted_over_older_http_is_a_version_fallback() {
    let failure = ask(&request("/older")).await.expect_err("failure");
    assert_eq!(failure.cause.code(), "version-fallback", "{failure}");
    let code = Some((Side::Server, 0x110, "H3_VERSION_FALLBACK"));
    assert_eq!(wire_code(&failure), code);
}

#[tokio::test]
async fn a_body_over_the_cap_is_cut_there() {
    let response = ask(&request("/big")).await.expect("response");
    assert!(response.truncated);
    assert_eq!(response.body_bytes, 65_536);
}

#[tokio::test]
async fn a_header_section_over_the_cap_is_too_large_for_us() {
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    // Written by hand, because the site respects the limits we announce: SETTINGS, and a field of 8192 octets after
    // `:status` 200.
    let mut block = vec![0, 0, 0xd9, 0x21, b'x', 0x7f, 0x81, 0x3f];
    block.resize(block.len() + 8192, b'y');
    let length = u16::try_from(block.len()).expect("length") | 0x4000;
    let frame = [&[0x01][..], &length.to_be_bytes(), &block].concat();
    tokio::spawn(async move {
        let connection = accept(&server).await;
        let mut control = connection.open_uni().await.expect("control");
        control.write_all(&[0, 4, 0]).await.expect("settings");
        let (mut send, _receive) = connection.accept_bi().await.expect("request");
        send.write_all(&frame).await.expect("frame");
        connection.closed().await
    });
    let outcome = connected(&authority, address)
        .await
        .request(&request("/"))
        .await;
    let failure = outcome.expect_err("failure");
    assert_eq!(failure.cause.code(), "response-too-large", "{failure}");
    assert!(failure.to_string().contains("4 KiB"), "{failure}");
}

#[tokio::test]
async fn no_answer_is_a_response_timeout() {
    let failure = ask(&request_within("/silent", SHORT))
        .await
        .expect_err("failure");
    assert_eq!(failure.cause.code(), "response-timeout");
    assert!(failure.traffic.datagrams_received > 0);
    assert_eq!(failure.response, None);
}

#[tokio::test]
async fn a_response_later_than_an_idle_timeout_arrives() {
    let authority = Authority::new();
    let address = impatient_site(&authority, Duration::from_millis(400));
    let ask = async |interval| {
        let options = options(address).keep_alive(interval);
        connect(&authority.trust(), &options, &Cancel::default())
            .await
            .expect("handshake")
            .request(&request("/late"))
            .await
    };
    let response = ask(Duration::from_millis(100)).await.expect("response");
    assert_eq!(response.status, 200);
    let failure = ask(Duration::from_secs(15)).await.expect_err("failure");
    assert_eq!(failure.cause.code(), "connection-closed", "{failure}");
    assert!(failure.to_string().contains("idle"), "{failure}");
}

#[tokio::test]
async fn a_server_that_lets_no_request_be_sent_is_not_called_silent() {
    let none = quinn::VarInt::from_u32(0);
    let limits: [fn(&mut quinn::TransportConfig, quinn::VarInt); 4] = [
        |transport, none| _ = transport.max_concurrent_bidi_streams(none),
        |transport, none| _ = transport.max_concurrent_uni_streams(none),
        |transport, none| _ = transport.stream_receive_window(none),
        |transport, none| _ = transport.receive_window(none),
    ];
    for limit in limits {
        let authority = Authority::new();
        let mut transport = quinn::TransportConfig::default();
        limit(&mut transport, none);
        let mut config = support::quic(support::tls(authority.identity(), "h3"));
        config.transport_config(std::sync::Arc::new(transport));
        let address = support::serving(support::endpoint(config));
        let failure = connected(&authority, address)
            .await
            .request(&request_within("/", SHORT * 5))
            .await
            .expect_err("failure");
        assert_eq!(failure.cause.code(), "h3-error", "{failure}");
        assert!(failure.to_string().contains("limits"), "{failure}");
    }
}

#[tokio::test]
async fn a_close_in_mid_request_gives_the_peers_code_and_reason() {
    let failure = ask(&request("/close")).await.expect_err("failure");
    assert_eq!(failure.cause.code(), "connection-closed");
    let code = Some((Side::Server, 0x102, "H3_INTERNAL_ERROR"));
    assert_eq!(wire_code(&failure), code);
    assert!(failure.to_string().contains("enough"), "{failure}");
}

#[tokio::test]
async fn a_rejected_request_and_a_shutdown_are_goaway() {
    for path in ["/rejected", "/going"] {
        let failure = ask(&request(path)).await.expect_err("failure");
        assert_eq!(failure.cause.code(), "goaway", "{path}: {failure}");
    }
}

#[tokio::test]
async fn a_reset_stream_is_an_h3_error_with_the_peers_code() {
    let failure = ask(&request("/broken")).await.expect_err("failure");
    assert_eq!(failure.cause.code(), "h3-error");
    let code = Some((Side::Server, 0x102, "H3_INTERNAL_ERROR"));
    assert_eq!(wire_code(&failure), code);
}

/// The failure of a request to a server that behaves like this, and why the connection then ended for the server. The
/// streams returned stay open until then.
async fn broken_by<F>(
    serve: impl FnOnce(quinn::Connection) -> F + Send + 'static,
) -> (AttemptFailure, ConnectionError)
where
    F: Future<Output: Send> + Send + 'static,
{
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    let watched = tokio::spawn(async move {
        let connection = accept(&server).await;
        let _streams = serve(connection.clone()).await;
        tokio::time::timeout(Duration::from_secs(5), connection.closed()).await
    });
    let outcome = connected(&authority, address)
        .await
        .request(&request("/"))
        .await;
    let failure = outcome.expect_err("failure");
    let closed = watched.await.expect("server").expect("a close in time");
    (failure, closed)
}

fn application_code(closed: &ConnectionError) -> Option<u64> {
    match closed {
        ConnectionError::ApplicationClosed(close) => Some(close.error_code.into_inner()),
        _ => None,
    }
}

#[tokio::test]
async fn a_control_stream_without_settings_is_an_h3_error_that_the_server_is_told() {
    let (failure, closed) = broken_by(async |connection| {
        let mut control = connection.open_uni().await.expect("stream");
        // Stream type 0 (control), then a GOAWAY frame where SETTINGS must be.
        control
            .write_all(&[0x00, 0x07, 0x01, 0x00])
            .await
            .expect("write");
        control
    })
    .await;
    assert_eq!(failure.cause.code(), "h3-error", "{failure}");
    let code = Some((Side::Client, 0x10a, "H3_MISSING_SETTINGS"));
    assert_eq!(wire_code(&failure), code, "{failure}");
    assert_eq!(application_code(&closed), Some(0x10a), "{closed:?}");
}

#[tokio::test]
async fn a_request_stream_without_a_header_section_is_an_h3_error_that_the_server_is_told() {
    let (failure, closed) = broken_by(async |connection| {
        let mut control = connection.open_uni().await.expect("control");
        control.write_all(&[0, 4, 0]).await.expect("settings");
        let (mut send, receive) = connection.accept_bi().await.expect("request");
        send.finish().expect("end");
        (control, receive)
    })
    .await;
    assert_eq!(failure.cause.code(), "h3-error", "{failure}");
    let code = Some((Side::Client, 0x105, "H3_FRAME_UNEXPECTED"));
    assert_eq!(wire_code(&failure), code, "{failure}");
    assert_eq!(application_code(&closed), Some(0x105), "{closed:?}");
}

#[tokio::test]
async fn a_malformed_header_section_is_an_h3_error_that_the_server_is_told() {
    let (failure, closed) = broken_by(async |connection| {
        let mut control = connection.open_uni().await.expect("control");
        control.write_all(&[0, 4, 0]).await.expect("settings");
        let (mut send, receive) = connection.accept_bi().await.expect("request");
        // HEADERS: `:status` 200, and a literal field line with an uppercase name (RFC 9114 section 4.2).
        let name_and_value = b"\x23Abc\x01x";
        let frame = [&[1, 9, 0, 0, 0xc0 | STATUS_200][..], name_and_value].concat();
        send.write_all(&frame).await.expect("response");
        (control, receive, send)
    })
    .await;
    assert_eq!(failure.cause.code(), "h3-error", "{failure}");
    let code = Some((Side::Client, 0x10e, "H3_MESSAGE_ERROR"));
    assert_eq!(wire_code(&failure), code, "{failure}");
    assert_eq!(application_code(&closed), Some(0x10e), "{closed:?}");
}

/// A server that answers with `:status` 200 or 304 (their indices in QPACK's static table), this `content-length`, and
/// 5 bytes or none.
async fn declare(
    connection: quinn::Connection,
    status: u8,
    length: &str,
    body: &[u8],
) -> impl Send {
    let mut control = connection.open_uni().await.expect("control");
    control.write_all(&[0, 4, 0]).await.expect("settings");
    let (mut send, receive) = connection.accept_bi().await.expect("request");
    let size = |bytes: &[u8]| u8::try_from(bytes.len()).expect("a short one");
    // An indexed field line, and a literal one with the name at index 4 (RFC 9204 section 4.5).
    let mut block = vec![0, 0, 0xc0 | status, 0x54, size(length.as_bytes())];
    block.extend_from_slice(length.as_bytes());
    let mut frames = [&[1, size(&block)][..], &block].concat();
    if !body.is_empty() {
        frames.extend_from_slice(&[0, size(body)]);
        frames.extend_from_slice(body);
    }
    send.write_all(&frames).await.expect("response");
    send.finish().expect("end");
    (control, receive)
}

const STATUS_200: u8 = 25;
const STATUS_304: u8 = 26;

#[tokio::test]
async fn content_of_another_length_than_declared_is_an_h3_error_that_the_server_is_told() {
    for length in ["1000", "4", "5, 6", "five"] {
        let (failure, closed) =
            broken_by(move |connection| declare(connection, STATUS_200, length, b"hello")).await;
        assert_eq!(failure.cause.code(), "h3-error", "{failure}");
        let code = Some((Side::Client, 0x10e, "H3_MESSAGE_ERROR"));
        assert_eq!(wire_code(&failure), code, "{failure}");
        assert_eq!(application_code(&closed), Some(0x10e), "{closed:?}");
        let head = failure.response.and_then(|response| response.head);
        assert_eq!(head.map(|head| head.status), Some(200));
    }
}

#[tokio::test]
async fn content_of_the_declared_length_is_a_response_and_so_is_a_304_without_any() {
    for (status, length, body) in [
        (STATUS_200, "5", &b"hello"[..]),
        (STATUS_200, "5, 5", b"hello"),
        (STATUS_304, "1000", b""),
    ] {
        let authority = Authority::new();
        let (server, address) = support::server(&authority, "h3");
        tokio::spawn(async move {
            let connection = accept(&server).await;
            let _streams = declare(connection.clone(), status, length, body).await;
            connection.closed().await
        });
        let connection = connected(&authority, address).await;
        let response = connection.request(&request("/")).await.expect("response");
        assert_eq!(response.body_bytes, body.len() as u64);
    }
}

/// Content of which a client announces with its window that it has read some, and so the header section before it.
const BEYOND_WINDOW: usize = 300 * 1024;
/// Room for that, and for more.
const MUCH: u32 = 1 << 20;
const ALT_SVC: &str = "h3=\":8443\"";

/// Answers with 200, `alt-svc`, `age` and a part of the content; when this is done, the client has read the former.
async fn begin(
    connection: &quinn::Connection,
) -> (quinn::SendStream, quinn::SendStream, quinn::RecvStream) {
    let mut control = connection.open_uni().await.expect("control");
    control.write_all(&[0, 4, 0]).await.expect("settings");
    let (mut send, receive) = connection.accept_bi().await.expect("request");
    let length = u8::try_from(ALT_SVC.len()).expect("a short one");
    // Literals with the names at indices 83 and 2 (RFC 9204 section 4.5.4), and the head of a DATA frame of 1 MiB.
    let mut block = vec![0, 0, 0xc0 | STATUS_200, 0x5f, 83 - 15, length];
    block.extend_from_slice(ALT_SVC.as_bytes());
    block.extend_from_slice(&[0x52, 1, b'7']);
    let size = u8::try_from(block.len()).expect("a short one");
    let head = [&[1, size][..], &block, &[0, 0x80, 0x10, 0, 0]].concat();
    send.write_all(&head).await.expect("head");
    let content = vec![b'x'; BEYOND_WINDOW];
    send.write_all(&content).await.expect("content");
    (send, control, receive)
}

/// What is known of a response that `begin` began.
fn assert_begun(failure: &AttemptFailure) {
    let response = failure.response.as_deref().expect("a response that began");
    let head = response.head.expect("its header section");
    assert_eq!(head.status, 200);
    assert!(head.first_byte <= failure.after);
    assert_eq!(response.alt_svc.as_deref(), Some(ALT_SVC));
    assert_eq!(response.age.as_deref(), Some("7"));
}

async fn begun_by(address: SocketAddr, authority: &Authority, cancel: &Cancel) -> AttemptFailure {
    let connection = connect(&authority.trust(), &options(address), cancel)
        .await
        .expect("handshake");
    let outcome = connection.request(&request("/").max_body_bytes(MUCH)).await;
    outcome.expect_err("failure")
}

#[tokio::test]
async fn a_response_that_is_cut_off_leaves_its_header_section_and_when_it_came() {
    let authority = Authority::new();
    for by_stream in [true, false] {
        let (server, address) = support::server(&authority, "h3");
        // The other keeps the port open, where a late acknowledgement would be refused.
        let endpoint = server.clone();
        tokio::spawn(async move {
            let connection = accept(&endpoint).await;
            let (mut send, _control, _receive) = begin(&connection).await;
            match by_stream {
                true => send.reset(0x102_u32.into()).expect("open"),
                false => connection.close(0x102_u32.into(), b"enough"),
            }
            connection.closed().await
        });
        let failure = begun_by(address, &authority, &Cancel::default()).await;
        let code = if by_stream {
            "h3-error"
        } else {
            "connection-closed"
        };
        assert_eq!(failure.cause.code(), code, "{failure}");
        assert_begun(&failure);
    }
}

#[tokio::test]
async fn a_response_that_its_reader_cancels_leaves_the_same() {
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    let cancel = Cancel::default();
    tokio::spawn({
        let cancel = cancel.clone();
        async move {
            let connection = accept(&server).await;
            let _streams = begin(&connection).await;
            cancel.cancel();
            connection.closed().await
        }
    });
    let failure = begun_by(address, &authority, &cancel).await;
    assert_eq!(failure.cause.code(), "cancelled", "{failure}");
    assert_begun(&failure);
}

#[tokio::test]
async fn a_response_that_a_shutdown_does_not_end_is_late() {
    const WAITED: Duration = Duration::from_secs(3);
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    tokio::spawn(async move {
        let connection = accept(&server).await;
        let (_send, mut control, _receive) = begin(&connection).await;
        // GOAWAY, which the request with stream id 0 precedes (RFC 9114 section 5.2).
        control
            .write_all(&[0x07, 0x01, 0x04])
            .await
            .expect("goaway");
        connection.closed().await
    });
    let request = request_within("/", WAITED).max_body_bytes(MUCH);
    let outcome = connected(&authority, address).await.request(&request).await;
    let failure = outcome.expect_err("failure");
    assert_eq!(failure.cause.code(), "response-timeout", "{failure}");
    assert_begun(&failure);
}

#[tokio::test]
async fn a_deadline_counts_from_the_attempts_start() {
    const WAITED: Duration = Duration::from_secs(5);
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    tokio::spawn(async move { accept(&server).await.closed().await });
    let cancel = Cancel::default();
    let options = options_within(address, 4 * WAITED).counted_from(Instant::now() - WAITED);
    let connection = connect(&authority.trust(), &options, &cancel)
        .await
        .expect("handshake");
    // The owner's deadline, of which the attempt says what it missed.
    cancel.cancel();
    let outcome = connection.request(&request_within("/", WAITED)).await;
    let failure = outcome.expect_err("failure");
    assert_eq!(failure.cause.code(), "response-timeout", "{failure}");
}

#[tokio::test]
async fn a_421_is_an_answer_whether_or_not_its_body_ends() {
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    let watched = tokio::spawn(async move {
        let connection = accept(&server).await;
        let mut control = connection.open_uni().await.expect("control");
        control.write_all(&[0, 4, 0]).await.expect("settings");
        let (mut send, _receive) = connection.accept_bi().await.expect("request");
        // `:status` 421 is at index 69 of QPACK's static table.
        let head = [1, 4, 0, 0, 0xff, 69 - 63];
        send.write_all(&head).await.expect("head");
        connection.closed().await
    });
    let connection = connected(&authority, address).await;
    let response = connection.request(&request("/")).await.expect("response");
    assert_eq!((response.status, response.body_bytes), (421, 0));
    let closed = watched.await.expect("server");
    assert_eq!(application_code(&closed), Some(0x10c), "{closed:?}");
}

#[tokio::test]
async fn an_endless_header_section_is_cut_off() {
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    tokio::spawn(async move {
        let connection = accept(&server).await;
        let (mut send, _receive) = connection.accept_bi().await.expect("request");
        // A HEADERS frame that announces 1 GiB.
        send.write_all(&[0x01, 0xc0, 0, 0, 0, 0x40, 0, 0, 0])
            .await
            .expect("frame");
        while send.write_all(&[0; 65_536]).await.is_ok() {}
    });
    let outcome = connected(&authority, address)
        .await
        .request(&request("/"))
        .await;
    let failure = outcome.expect_err("failure");
    assert_eq!(failure.cause.code(), "response-too-large");
    assert!(failure.to_string().contains("larger"), "{failure}");
}

#[tokio::test]
async fn a_demanded_client_certificate_is_a_tls_alert() {
    let authority = Authority::new();
    let mut roots = rustls::RootCertStore::empty();
    use rustls::pki_types::pem::PemObject;
    let root = rustls::pki_types::CertificateDer::from_pem_slice(authority.pem.as_bytes());
    roots.add(root.expect("pem")).expect("root");
    let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let demand =
        rustls::server::WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone())
            .build()
            .expect("verifier");
    let identity = authority.identity();
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("versions")
        .with_client_cert_verifier(demand)
        .with_single_cert(identity.chain, identity.key)
        .expect("certificate");
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let (server, address) = support::endpoint(support::quic(tls));
    tokio::spawn(async move { server.accept().await.expect("incoming").await });
    // The client has finished its handshake before the server notices the missing certificate.
    let outcome = connected(&authority, address)
        .await
        .request(&request("/"))
        .await;
    let failure = outcome.expect_err("failure");
    assert_eq!(failure.cause.code(), "tls-alert", "{failure}");
    let code = Some((Side::Server, 0x174, "certificate_required"));
    assert_eq!(wire_code(&failure), code);
}

/// A server that can die without closing: a separate runtime, stopped while it holds connections.
struct Mortal {
    runtime: tokio::runtime::Runtime,
    endpoint: quinn::Endpoint,
}

impl Mortal {
    fn new(make: impl FnOnce() -> quinn::Endpoint) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("runtime");
        let guard = runtime.enter();
        let endpoint = make();
        drop(guard);
        Self { runtime, endpoint }
    }

    /// Connects a client, then stops serving it.
    async fn connect_and_die(self, authority: &Authority) -> Connection {
        let address = self.endpoint.local_addr().expect("address");
        let endpoint = self.endpoint.clone();
        let accepted = self.runtime.spawn(async move { accept(&endpoint).await });
        let client = connected(authority, address).await;
        let orphan = accepted.await.expect("server");
        let stop = move || self.runtime.shutdown_timeout(Duration::from_secs(5));
        tokio::task::spawn_blocking(stop).await.expect("stop");
        drop((orphan, self.endpoint));
        client
    }
}

#[tokio::test]
async fn a_server_that_restarted_resets_the_connection() {
    let authority = Authority::new();
    let config = support::quic(support::tls(authority.identity(), "h3"));
    let socket = std::net::UdpSocket::bind(support::LOOPBACK).expect("socket");
    let mut keys = quinn::EndpointConfig::default();
    keys.cid_generator(|| Box::new(quinn_proto::RandomConnectionIdGenerator::new(8)));
    let start = || {
        let socket = socket.try_clone().expect("clone");
        let runtime = std::sync::Arc::new(quinn::TokioRuntime);
        quinn::Endpoint::new(keys.clone(), Some(config.clone()), socket, runtime).expect("endpoint")
    };
    let connection = Mortal::new(start).connect_and_die(&authority).await;
    let _second_life = start();
    let failure = connection
        .request(&request("/"))
        .await
        .expect_err("failure");
    assert_eq!(failure.cause.code(), "stateless-reset", "{failure}");
}

#[tokio::test]
async fn a_server_that_vanished_is_noticed_by_icmp() {
    let authority = Authority::new();
    let mortal = Mortal::new(|| support::server(&authority, "h3").0);
    let connection = mortal.connect_and_die(&authority).await;
    let failure = connection
        .request(&request("/"))
        .await
        .expect_err("failure");
    assert_eq!(failure.cause.code(), "udp-refused", "{failure}");
}

#[tokio::test]
async fn cancelled_in_mid_request_tells_the_server_so() {
    let authority = Authority::new();
    let (server, address) = support::server(&authority, "h3");
    let cancel = Cancel::default();
    let watched = tokio::spawn({
        let cancel = cancel.clone();
        async move {
            let connection = accept(&server).await;
            connection.accept_bi().await.expect("request");
            cancel.cancel();
            connection.closed().await
        }
    });
    let connection = connect(&authority.trust(), &options(address), &cancel)
        .await
        .expect("handshake");
    let failure = connection
        .request(&request("/"))
        .await
        .expect_err("failure");
    assert_eq!(failure.cause.code(), "cancelled");
    let closed = watched.await.expect("server");
    assert_eq!(application_code(&closed), Some(0x10c), "{closed:?}");
}

#[tokio::test]
async fn cancelled_while_established_fails_the_request_unsent() {
    let authority = Authority::new();
    let cancel = Cancel::default();
    let connection = connect(&authority.trust(), &options(site(&authority)), &cancel)
        .await
        .expect("handshake");
    cancel.cancel();
    let failure = connection
        .request(&request("/"))
        .await
        .expect_err("failure");
    assert_eq!(failure.cause.code(), "cancelled");
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    for (authority, path, word) in [
        ("user@h3.test", "/", "authority"),
        ("", "/", "authority"),
        (HOST, "*", "path"),
        (HOST, "/ ", "path"),
    ] {
        let message = Request::get(authority, path).expect_err(word).to_string();
        assert!(message.starts_with(word), "{message}");
    }
}

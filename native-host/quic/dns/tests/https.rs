//! HTTPS records (RFC 9460) as sent by real servers: every field, aliases, and what must be ignored.

use std::time::Duration;

use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::rdata::svcb::{
    Alpn, EchConfigList, IpHint, Mandatory, SVCB, SvcParamKey, SvcParamValue,
};
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME, HTTPS};
use hickory_resolver::proto::rr::{RData, RecordType};
use photofinish_dns::{Answer, Failure, Kind, MAX_RECORDS, ServiceRecord};

mod support;

use support::{Server, Transport, ask_within, encode, https_reply, name, record, reply};

fn https(priority: u16, target: &str, params: Vec<(SvcParamKey, SvcParamValue)>) -> RData {
    RData::HTTPS(HTTPS(SVCB::new(priority, name(target), params)))
}

fn alpn(names: &[&str]) -> (SvcParamKey, SvcParamValue) {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    (SvcParamKey::Alpn, SvcParamValue::Alpn(Alpn(names)))
}

fn mandatory(keys: &[SvcParamKey]) -> (SvcParamKey, SvcParamValue) {
    (
        SvcParamKey::Mandatory,
        SvcParamValue::Mandatory(Mandatory(keys.to_vec())),
    )
}

fn port(port: u16) -> (SvcParamKey, SvcParamValue) {
    (SvcParamKey::Port, SvcParamValue::Port(port))
}

fn services(answer: Result<Answer, Failure>) -> Vec<ServiceRecord> {
    match answer {
        Ok(Answer::Services(services)) => services.records,
        other => panic!("no services but {other:?}"),
    }
}

/// The one record of `a.test` with these parameters.
async fn service(params: Vec<(SvcParamKey, SvcParamValue)>) -> ServiceRecord {
    let server = Server::of(vec![record("a.test.", 60, https(1, ".", params))]).await;
    services(server.ask("a.test", Kind::Https).await).remove(0)
}

#[tokio::test]
async fn of_many_records_the_best_are_read_and_the_others_counted_with_hints_too_many() {
    let hints: Vec<A> = (0..60).map(|last| A::new(192, 0, 2, last)).collect();
    let mut records: Vec<_> = (2..102)
        .map(|priority| record("a.test.", 60, https(priority, "far.test.", vec![])))
        .collect();
    let params = vec![(
        SvcParamKey::Ipv4Hint,
        SvcParamValue::Ipv4Hint(IpHint(hints)),
    )];
    records.push(record("a.test.", 60, https(1, "near.test.", params)));
    let server = Server::over_tcp(records).await;
    let Ok(Answer::Services(answer)) = server.ask("a.test", Kind::Https).await else {
        panic!("no services");
    };
    let best = &answer.records[0];
    assert_eq!((best.priority, best.target.as_str()), (1, "near.test"));
    assert_eq!(answer.records.len(), MAX_RECORDS);
    assert_eq!(best.ipv4_hints.len(), MAX_RECORDS);
    assert_eq!(answer.left_out, 101 - MAX_RECORDS + 60 - MAX_RECORDS);
}

/// The records of an answer with the given rdata bytes; `None`: there was none.
async fn raw(rdatas: &'static [&'static [u8]]) -> Option<Vec<ServiceRecord>> {
    let server = Server::start(move |query, _| Some(https_reply(query, rdatas))).await;
    match ask_within(
        server.address,
        "a.test",
        Kind::Https,
        Duration::from_millis(400),
    )
    .await
    {
        Ok(Answer::Services(services)) => Some(services.records),
        Err(_) => None,
        other => panic!("no services but {other:?}"),
    }
}

#[tokio::test]
async fn every_field_arrives() {
    let params = vec![
        alpn(&["h3", "h2"]),
        (SvcParamKey::NoDefaultAlpn, SvcParamValue::NoDefaultAlpn),
        port(8443),
        (
            SvcParamKey::Ipv4Hint,
            SvcParamValue::Ipv4Hint(IpHint(vec![A::new(192, 0, 2, 1), A::new(192, 0, 2, 2)])),
        ),
        (
            SvcParamKey::EchConfigList,
            SvcParamValue::EchConfigList(EchConfigList(vec![0, 1, 2])),
        ),
        (
            SvcParamKey::Ipv6Hint,
            SvcParamValue::Ipv6Hint(IpHint(vec![AAAA::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)])),
        ),
    ];
    let server = Server::of(vec![record(
        "a.test.",
        60,
        https(3, "Svc.Example.", params),
    )])
    .await;
    assert_eq!(
        services(server.ask("a.test", Kind::Https).await),
        [ServiceRecord {
            owner: "a.test".to_owned(),
            priority: 3,
            target: "svc.example".to_owned(),
            alpn: vec!["h3".to_owned(), "h2".to_owned()],
            no_default_alpn: true,
            port: Some(8443),
            ipv4_hints: vec![[192, 0, 2, 1].into(), [192, 0, 2, 2].into()],
            ipv6_hints: vec!["2001:db8::1".parse().expect("address")],
            ech: true,
            incompatible: false,
            ttl: Duration::from_secs(60),
        }]
    );
}

#[tokio::test]
async fn a_dot_means_the_owner_and_an_alias_has_nothing_but_its_target() {
    let server = Server::of(vec![
        record(
            "a.test.",
            60,
            https(0, "pool.test.", vec![alpn(&["h3"]), port(1)]),
        ),
        record("b.test.", 60, https(1, ".", vec![])),
        record("none.test.", 60, https(0, ".", vec![])),
        record("loop.test.", 60, https(0, "loop.test.", vec![])),
    ])
    .await;
    for (asked, target) in [("none.test", "."), ("loop.test", "loop.test")] {
        let alias = services(server.ask(asked, Kind::Https).await).remove(0);
        assert_eq!((alias.priority, alias.target.as_str()), (0, target));
    }
    let alias = services(server.ask("a.test", Kind::Https).await).remove(0);
    assert_eq!((alias.priority, alias.target.as_str()), (0, "pool.test"));
    assert!(alias.alpn.is_empty() && alias.port.is_none() && !alias.incompatible);
    let own = services(server.ask("b.test", Kind::Https).await).remove(0);
    assert_eq!((own.priority, own.target.as_str()), (1, "b.test"));
}

#[tokio::test]
async fn behind_a_cname_a_dot_means_the_canonical_name() {
    // RFC 9460 section 2.5.2.
    let server = Server::of(vec![
        record("a.test.", 60, RData::CNAME(CNAME(name("svc2.test.")))),
        record("svc2.test.", 60, https(1, ".", vec![port(8002)])),
    ])
    .await;
    let service = services(server.ask("a.test", Kind::Https).await).remove(0);
    assert_eq!(
        (service.owner.as_str(), service.target.as_str()),
        ("svc2.test", "svc2.test")
    );
}

#[tokio::test]
async fn alpn_identifiers_are_bytes_and_not_presentation() {
    // Commas, backslashes and percent signs are escaped in zone files only (Appendix A.1).
    let service = service(vec![alpn(&["f\\oo,bar", "h%32", "h3"])]).await;
    assert_eq!(service.alpn, ["f\\oo,bar", "h%32", "h3"]);
}

#[tokio::test]
async fn unknown_keys_are_ignored_unless_they_are_mandatory() {
    let unknown = || {
        (
            SvcParamKey::Key(65333),
            SvcParamValue::Unknown(hickory_resolver::proto::rr::rdata::svcb::Unknown(vec![
                1, 2,
            ])),
        )
    };
    assert!(!service(vec![alpn(&["h3"]), unknown()]).await.incompatible);
    let keys = [SvcParamKey::Key(65333)];
    assert!(
        service(vec![mandatory(&keys), unknown()])
            .await
            .incompatible
    );
}

#[tokio::test]
async fn mandatory_keys_that_we_know_change_nothing_and_ech_is_beyond_us() {
    let keys = [SvcParamKey::Alpn, SvcParamKey::Port];
    let known = service(vec![mandatory(&keys), alpn(&["h3"]), port(443)]).await;
    assert!(!known.incompatible);
    let ech = (
        SvcParamKey::EchConfigList,
        SvcParamValue::EchConfigList(EchConfigList(vec![0])),
    );
    let demanding = service(vec![mandatory(&[SvcParamKey::EchConfigList]), ech]).await;
    assert!(demanding.incompatible);
}

#[tokio::test]
async fn records_that_contradict_themselves_are_incompatible() {
    // Mandatory, but missing (section 8).
    assert!(
        service(vec![mandatory(&[SvcParamKey::Port])])
            .await
            .incompatible
    );
    // No default and nothing else (section 7.1.1).
    let bare = vec![(SvcParamKey::NoDefaultAlpn, SvcParamValue::NoDefaultAlpn)];
    assert!(service(bare).await.incompatible);
    // Nothing listens on port 0.
    assert!(service(vec![port(0)]).await.incompatible);
}

#[tokio::test]
async fn one_malformed_record_spoils_its_set() {
    // Section 2.2: the client MUST reject the entire RRSet. The first of each pair is sound.
    const SOUND: &[u8] = &[0, 1, 0, 0, 1, 0, 3, 2, b'h', b'3'];
    const MALFORMED: [&[&[u8]]; 17] = [
        // Keys out of order, and a key twice.
        &[
            SOUND,
            &[0, 1, 0, 0, 3, 0, 2, 1, 187, 0, 1, 0, 3, 2, b'h', b'3'],
        ],
        &[SOUND, &[0, 1, 0, 0, 3, 0, 2, 1, 187, 0, 3, 0, 2, 1, 187]],
        // A value that extends beyond the record.
        &[SOUND, &[0, 1, 0, 0, 1, 0, 9, 2, b'h', b'3']],
        // A port of one byte, an IPv4 hint of three, no hint at all, an empty identifier.
        &[SOUND, &[0, 1, 0, 0, 3, 0, 1, 1]],
        &[SOUND, &[0, 1, 0, 0, 4, 0, 3, 1, 2, 3]],
        &[SOUND, &[0, 1, 0, 0, 4, 0, 0]],
        &[SOUND, &[0, 1, 0, 0, 1, 0, 1, 0]],
        // Mandatory keys out of order, and mandatory in its own list.
        &[
            SOUND,
            &[
                0, 1, 0, 0, 0, 0, 4, 0, 3, 0, 1, 0, 1, 0, 3, 2, b'h', b'3', 0, 3, 0, 2, 1, 187,
            ],
        ],
        &[SOUND, &[0, 1, 0, 0, 0, 0, 2, 0, 0]],
        // No mandatory key at all, and half of one.
        &[SOUND, &[0, 1, 0, 0, 0, 0, 0]],
        &[
            SOUND,
            &[0, 1, 0, 0, 0, 0, 3, 0, 1, 0, 0, 1, 0, 3, 2, b'h', b'3'],
        ],
        // no-default-alpn with a value, no ECH configuration, an identifier that extends beyond the value, no
        // identifier.
        &[SOUND, &[0, 1, 0, 0, 1, 0, 3, 2, b'h', b'3', 0, 2, 0, 1, 1]],
        &[SOUND, &[0, 1, 0, 0, 5, 0, 0]],
        &[SOUND, &[0, 1, 0, 0, 1, 0, 3, 3, b'h', b'3']],
        &[SOUND, &[0, 1, 0, 0, 1, 0, 0]],
        // A compressed target, and nothing at all.
        &[SOUND, &[0, 1, 0xc0, 12, 0, 1, 0, 3, 2, b'h', b'3']],
        &[SOUND, &[]],
    ];
    for (index, rdatas) in MALFORMED.into_iter().enumerate() {
        let services = raw(rdatas).await;
        let usable = services
            .iter()
            .flatten()
            .filter(|s| !s.incompatible)
            .count();
        assert_eq!(usable, 0, "{index}: {services:?}");
    }
    let sound = raw(&[SOUND, SOUND]).await.expect("services");
    assert!(sound.iter().all(|s| !s.incompatible && s.alpn == ["h3"]));
}

#[tokio::test]
async fn an_identifier_is_any_octets() {
    // Section 7.1.1; half of the GREASE identifiers (RFC 8701) are not UTF-8.
    let services = raw(&[&[0, 1, 0, 0, 1, 0, 6, 2, 0x8a, 0x8a, 2, b'h', b'3']])
        .await
        .expect("services");
    assert_eq!(services[0].alpn, ["\\x8a\\x8a", "h3"]);
    assert!(!services[0].incompatible);
}

#[tokio::test]
async fn a_port_is_two_octets() {
    // Sections 2.2 and 7.2: otherwise the set is rejected.
    const THREE: &[u8] = &[
        0, 1, 0, 0, 1, 0, 3, 2, b'h', b'3', 0, 3, 0, 3, 0x12, 0x34, 0,
    ];
    const SOUND: &[u8] = &[0, 1, 0, 0, 1, 0, 3, 2, b'h', b'3'];
    assert_eq!(raw(&[THREE]).await, None);
    let set = raw(&[SOUND, THREE]).await.expect("services");
    assert!(set.iter().all(|service| service.incompatible), "{set:?}");
}

#[tokio::test]
async fn a_large_set_comes_over_tcp() {
    const GREASE: &[u8] = &[0, 1, 0, 0, 1, 0, 6, 2, 0x8a, 0x8a, 2, b'h', b'3'];
    let server = Server::start(|query, transport| match transport {
        Transport::Udp => {
            let mut message = reply(query, ResponseCode::NoError);
            message.metadata.truncation = true;
            Some(encode(&message))
        }
        Transport::Tcp => Some(https_reply(query, &[GREASE; 200])),
    })
    .await;
    let services = services(server.ask("a.test", Kind::Https).await);
    assert_eq!(services.len(), MAX_RECORDS);
    assert!(
        services
            .iter()
            .all(|service| service.alpn.contains(&"h3".to_owned()))
    );
    assert!(
        server
            .seen()
            .iter()
            .all(|seen| seen.kind == RecordType::HTTPS)
    );
}

#[tokio::test]
async fn rdata_cut_short_anywhere_never_panics() {
    const WHOLE: &[u8] = &[
        0, 1, 3, b's', b'v', b'c', 0, 0, 0, 0, 2, 0, 3, 0, 1, 0, 3, 2, b'h', b'3', 0, 3, 0, 2, 1,
        187, 0, 4, 0, 4, 192, 0, 2, 1, 0, 5, 0, 1, 9, 255, 0, 0, 1, 7,
    ];
    for end in 0..WHOLE.len() {
        let server =
            Server::start(move |query, _| Some(https_reply(query, &[&WHOLE[..end]]))).await;
        let answer = ask_within(
            server.address,
            "a.test",
            Kind::Https,
            Duration::from_millis(400),
        )
        .await;
        assert!(!matches!(answer, Ok(Answer::Addresses(_))), "{end}");
    }
    let whole = raw(&[WHOLE]).await.expect("services");
    assert_eq!(
        (whole[0].target.as_str(), whole[0].port),
        ("svc", Some(443))
    );
}

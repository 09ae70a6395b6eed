//! Questions to real servers: addresses, aliases, truncation, and every way of getting no answer.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::RData;
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME};
use photofinish_dns::{
    AddressRecord, Answer, Client, Failure, Kind, MAX_RECORDS, Question, Records,
};
use tokio::net::UdpSocket;

mod support;

use support::{PATIENCE, Server, Transport, ask_within, encode, name, record, reply};

fn a(last: u8) -> RData {
    RData::A(A(Ipv4Addr::new(192, 0, 2, last)))
}

fn aaaa() -> RData {
    RData::AAAA(AAAA(Ipv6Addr::LOCALHOST))
}

fn addresses(answer: &Result<Answer, Failure>) -> Vec<String> {
    match answer {
        Ok(Answer::Addresses(answer)) => answer
            .records
            .iter()
            .map(|r| r.address.to_string())
            .collect(),
        other => panic!("no addresses but {other:?}"),
    }
}

fn whole<R>(records: Vec<R>) -> Records<R> {
    Records {
        records,
        left_out: 0,
    }
}

fn failure(answer: Result<Answer, Failure>) -> String {
    answer.expect_err("no answer").to_string()
}

#[tokio::test]
async fn each_family_is_asked_for_alone_and_keeps_its_ttl() {
    let server = Server::of(vec![
        record("a.test.", 300, a(1)),
        record("a.test.", 300, a(2)),
        record("a.test.", 7, aaaa()),
    ])
    .await;
    assert_eq!(
        addresses(&server.ask("a.test", Kind::A).await),
        ["192.0.2.1", "192.0.2.2"]
    );
    assert_eq!(
        server.ask("a.test", Kind::Aaaa).await.expect("answer"),
        Answer::Addresses(whole(vec![AddressRecord {
            address: Ipv6Addr::LOCALHOST.into(),
            ttl: Duration::from_secs(7),
        }]))
    );
    assert_eq!(
        server.ask("a.test", Kind::Https).await.expect("answer"),
        Answer::Services(whole(vec![]))
    );
    let kinds: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.kind.to_string())
        .collect();
    assert_eq!(kinds, ["A", "AAAA", "HTTPS"]);
}

#[tokio::test]
async fn a_name_with_a_dot_is_asked_for_as_it_stands() {
    let server = Server::of(vec![]).await;
    assert_eq!(
        server.ask("No.Such.test", Kind::A).await.expect("answer"),
        Answer::Addresses(whole(vec![]))
    );
    let names: Vec<_> = server
        .seen()
        .into_iter()
        .map(|seen| seen.name.to_lowercase())
        .collect();
    assert_eq!(names, ["no.such.test."]);
}

#[tokio::test]
async fn nothing_is_remembered_between_questions() {
    let server = Server::of(vec![record("a.test.", 300, a(1))]).await;
    let client = Client::of_server(server.address).expect("client");
    let question = Question::new("a.test", Kind::A, PATIENCE).expect("question");
    for _ in 0..3 {
        assert_eq!(addresses(&client.ask(&question).await), ["192.0.2.1"]);
    }
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn aliases_are_followed_and_their_shorter_ttl_counts() {
    let server = Server::of(vec![
        record("a.test.", 5, RData::CNAME(CNAME(name("b.test.")))),
        record("b.test.", 300, RData::CNAME(CNAME(name("c.test.")))),
        record("c.test.", 300, a(3)),
    ])
    .await;
    assert_eq!(
        server.ask("a.test", Kind::A).await.expect("answer"),
        Answer::Addresses(whole(vec![AddressRecord {
            address: Ipv4Addr::new(192, 0, 2, 3).into(),
            ttl: Duration::from_secs(5),
        }]))
    );
}

#[tokio::test]
async fn an_alias_whose_target_is_not_in_the_answer_is_asked_for() {
    let server = Server::start(|query, _| {
        let mut message = reply(query, ResponseCode::NoError);
        message.add_answer(match query.queries[0].name().to_ascii().as_str() {
            "a.test." => record("a.test.", 300, RData::CNAME(CNAME(name("b.test.")))),
            _ => record("b.test.", 300, a(4)),
        });
        Some(encode(&message))
    })
    .await;
    assert_eq!(
        addresses(&server.ask("a.test", Kind::A).await),
        ["192.0.2.4"]
    );
}

#[tokio::test]
async fn aliases_in_a_circle_end() {
    let server = Server::start(|query, _| {
        let mut message = reply(query, ResponseCode::NoError);
        let (from, to) = match query.queries[0].name().to_ascii().as_str() {
            "a.test." => ("a.test.", "b.test."),
            _ => ("b.test.", "a.test."),
        };
        message.add_answer(record(from, 300, RData::CNAME(CNAME(name(to)))));
        Some(encode(&message))
    })
    .await;
    assert_eq!(
        server.ask("a.test", Kind::A).await.expect("answer"),
        Answer::Addresses(whole(vec![]))
    );
}

#[tokio::test]
async fn records_of_other_names_and_kinds_prove_nothing() {
    let server = Server::start(|query, _| {
        let mut message = reply(query, ResponseCode::NoError);
        message.add_answer(record("other.test.", 300, a(9)));
        message.add_answer(record("a.test.", 300, aaaa()));
        message.add_answer(record("a.test.", 300, a(1)));
        message.add_additional(record("a.test.", 300, a(8)));
        Some(encode(&message))
    })
    .await;
    assert_eq!(
        addresses(&server.ask("a.test", Kind::A).await),
        ["192.0.2.1"]
    );
}

#[tokio::test]
async fn a_truncated_answer_is_asked_for_over_tcp() {
    let server = Server::start(|query, transport| {
        let mut message = reply(query, ResponseCode::NoError);
        match transport {
            Transport::Udp => message.metadata.truncation = true,
            Transport::Tcp => {
                for last in 0..200 {
                    message.add_answer(record("a.test.", 300, a(last)));
                }
            }
        }
        Some(encode(&message))
    })
    .await;
    let answer = server.ask("a.test", Kind::A).await;
    assert_eq!(addresses(&answer).len(), MAX_RECORDS);
    let transports: Vec<_> = server.seen().iter().map(|seen| seen.transport).collect();
    assert_eq!(transports, [Transport::Udp, Transport::Tcp]);
}

#[tokio::test]
async fn of_thousands_of_addresses_the_first_few_are_read_and_the_others_counted() {
    const GIVEN: u16 = 2500;
    let records = (0..GIVEN).map(|number| {
        let [high, low] = number.to_be_bytes();
        record(
            "a.test.",
            300,
            RData::A(A(Ipv4Addr::new(198, 18, high, low))),
        )
    });
    let server = Server::over_tcp(records.collect()).await;
    match server.ask("a.test", Kind::A).await {
        Ok(Answer::Addresses(answer)) => {
            assert_eq!(answer.records.len(), MAX_RECORDS);
            assert_eq!(answer.left_out, usize::from(GIVEN) - MAX_RECORDS);
        }
        other => panic!("no addresses but {other:?}"),
    }
}

#[tokio::test]
async fn no_such_name_and_no_such_record_are_no_failures() {
    for code in [ResponseCode::NXDomain, ResponseCode::NoError] {
        let server = Server::start(move |query, _| Some(encode(&reply(query, code)))).await;
        assert_eq!(
            server.ask("a.test", Kind::A).await.expect("answer"),
            Answer::Addresses(whole(vec![]))
        );
        assert_eq!(
            server.ask("a.test", Kind::Https).await.expect("answer"),
            Answer::Services(whole(vec![]))
        );
    }
}

#[tokio::test]
async fn a_server_that_refuses_or_fails_is_named_so() {
    for (code, word) in [
        (ResponseCode::ServFail, "SERVFAIL"),
        (ResponseCode::Refused, "REFUSED"),
        (ResponseCode::NotImp, "NOTIMP"),
        (ResponseCode::FormErr, "FORMERR"),
    ] {
        let server = Server::start(move |query, _| Some(encode(&reply(query, code)))).await;
        let message = failure(server.ask("a.test", Kind::A).await);
        assert!(message.contains(word), "{message}");
    }
}

#[tokio::test]
async fn a_silent_server_is_given_up_after_the_time_out() {
    let server = Server::start(|_, _| None).await;
    let answer = ask_within(server.address, "a.test", Kind::A, Duration::from_millis(80)).await;
    assert_eq!(
        failure(answer),
        "the DNS server did not answer within 80 ms"
    );
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again() {
    let lost = std::sync::atomic::AtomicBool::new(false);
    let server = Server::start(move |query, _| {
        if !lost.swap(true, std::sync::atomic::Ordering::SeqCst) {
            return None;
        }
        let mut message = reply(query, ResponseCode::NoError);
        message.add_answer(record("a.test.", 300, a(1)));
        Some(encode(&message))
    })
    .await;
    assert_eq!(
        addresses(&server.ask("a.test", Kind::A).await),
        ["192.0.2.1"]
    );
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_noticed_long_before_the_time_out() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("socket");
    let address: SocketAddr = socket.local_addr().expect("address");
    drop(socket);
    let message = failure(ask_within(address, "a.test", Kind::A, PATIENCE).await);
    assert!(message.contains("cannot be reached"), "{message}");
}

#[tokio::test]
async fn nonsense_is_no_answer_and_no_panic() {
    let garbage: [fn(&Message) -> Vec<u8>; 6] = [
        |query| encode(&reply(query, ResponseCode::NoError))[..11].to_vec(),
        |query| {
            let mut bytes = encode(&reply(query, ResponseCode::NoError));
            bytes[7] = 200;
            bytes
        },
        |query| {
            // A name that points at itself.
            let mut bytes = encode(&reply(query, ResponseCode::NoError));
            let at = u8::try_from(bytes.len()).expect("short");
            bytes[7] = 1;
            bytes.extend_from_slice(&[0xc0, at, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 1, 2, 3, 4]);
            bytes
        },
        |query| {
            // An A record of three bytes.
            let mut bytes = encode(&reply(query, ResponseCode::NoError));
            bytes[7] = 1;
            bytes.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 3, 1, 2, 3]);
            bytes
        },
        |query| {
            // An excessive TTL, in a class of its own.
            let mut bytes = encode(&reply(query, ResponseCode::NoError));
            bytes[7] = 1;
            bytes.extend_from_slice(&[0xc0, 12, 0, 1, 0, 3, 255, 255, 255, 255, 0, 4, 1, 2, 3, 4]);
            bytes
        },
        |query| {
            let mut bytes = query.id.to_be_bytes().to_vec();
            bytes.extend_from_slice(&[0xff; 600]);
            bytes
        },
    ];
    for (index, respond) in garbage.into_iter().enumerate() {
        let server = Server::start(move |query, _| Some(respond(query))).await;
        let answer = ask_within(
            server.address,
            "a.test",
            Kind::A,
            Duration::from_millis(400),
        )
        .await;
        assert!(answer.is_err(), "{index}: {answer:?}");
    }
}

#[tokio::test]
async fn a_question_that_is_dropped_asks_no_more() {
    let server = Server::start(|_, _| None).await;
    let asking = ask_within(server.address, "a.test", Kind::A, PATIENCE);
    // Longer than the first retransmission would take.
    assert!(
        tokio::time::timeout(Duration::from_millis(50), asking)
            .await
            .is_err()
    );
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn what_no_name_server_could_be_asked_is_refused_at_the_door() {
    let long = "a".repeat(64);
    for name in ["", ".", "a..b", long.as_str(), &"abc.".repeat(80)] {
        assert!(
            Question::new(name, Kind::A, Duration::from_millis(10)).is_err(),
            "{name:?}"
        );
    }
}

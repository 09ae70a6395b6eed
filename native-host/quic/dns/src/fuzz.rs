//! DNS messages and HTTPS records that were modified in transit, or crafted to break parsers: they are read or refused,
//! and nothing panics. `PROPTEST_CASES` sets the number of cases.

use std::time::Duration;

use hickory_resolver::lookup::Lookup;
use hickory_resolver::proto::op::{Message, Query};
use hickory_resolver::proto::rr::Name;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::answer::{Answer, MAX_RECORDS};
use crate::disguise::{DISGUISED, swap_types};
use crate::question::Kind;
use crate::service::services;

/// A response with a question and answers of these types; the data of each answer follow its TTL.
fn response(records: &[(u16, &[u8])]) -> Vec<u8> {
    let count = u8::try_from(records.len()).expect("few records");
    let mut bytes = vec![0, 7, 0x81, 0x80, 0, 1, 0, count, 0, 0, 0, 0];
    bytes.extend_from_slice(b"\x01a\x04test\x00\x00\x41\x00\x01");
    for (kind, data) in records {
        bytes.extend_from_slice(&[0xc0, 12]);
        bytes.extend_from_slice(&kind.to_be_bytes());
        bytes.extend_from_slice(&[0, 1, 0, 0, 0, 60]);
        let length = u16::try_from(data.len()).expect("short data");
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(data);
    }
    bytes
}

/// Data of HTTPS records: every parameter, an alias, and known parser breakers.
const RECORDS: [&[u8]; 6] = [
    b"\x00\x01\x00\x00\x01\x00\x03\x02h3",
    b"\x00\x01\x00\x00\x00\x00\x04\x00\x01\x00\x04\x00\x01\x00\x06\x02h3\x02h2\x00\x02\x00\x00\x00\x03\x00\x02\x20\xfb\
      \x00\x04\x00\x08\xc0\x00\x02\x01\xc0\x00\x02\x02\x00\x05\x00\x02\xfe\x0d\
      \x00\x06\x00\x10\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01",
    b"\x00\x00\x01b\x04test\x00",
    b"\x00\x01\x3faaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x00",
    b"\x00\x01\x00\x00\x01\x00\x05\x04\xff\xfe\x00\x01",
    b"\x00\x01\xc0\x0c\xff\xff\xff\xff",
];

fn messages() -> Vec<Vec<u8>> {
    let mut all: Vec<_> = RECORDS.iter().map(|data| response(&[(65, data)])).collect();
    all.push(response(&[
        (5, b"\x01b\x04test\x00"),
        (1, &[192, 0, 2, 1]),
        (28, &[0x20; 16]),
        (65, RECORDS[1]),
        (65_300, RECORDS[0]),
    ]));
    all
}

#[derive(Debug, Clone)]
enum Edit {
    Overwrite(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize),
    Cut(Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    let byte = prop_oneof![any::<u8>(), select(&[0u8, 1, 12, 63, 64, 0xc0, 0xff][..])];
    prop_oneof![
        4 => (any::<Index>(), byte).prop_map(|(at, byte)| Edit::Overwrite(at, byte)),
        1 => (any::<Index>(), prop::collection::vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        1 => (any::<Index>(), 1..20usize).prop_map(|(at, count)| Edit::Remove(at, count)),
        1 => (any::<Index>(), 1..40usize).prop_map(|(at, count)| Edit::Repeat(at, count)),
        1 => any::<Index>().prop_map(Edit::Cut),
    ]
}

fn edited(mut bytes: Vec<u8>, edits: Vec<Edit>) -> Vec<u8> {
    for edit in edits {
        let length = bytes.len();
        if length == 0 {
            break;
        }
        let range = |at: Index, count: usize| {
            let start = at.index(length);
            start..(start + count).min(length)
        };
        match edit {
            Edit::Overwrite(at, byte) => bytes[at.index(length)] = byte,
            Edit::Insert(at, more) => drop(bytes.splice(at.index(length)..at.index(length), more)),
            Edit::Remove(at, count) => drop(bytes.drain(range(at, count))),
            Edit::Repeat(at, count) => {
                let again = bytes[range(at, count)].to_vec();
                bytes.extend(again);
            }
            Edit::Cut(at) => bytes.truncate(at.index(length)),
        }
    }
    bytes
}

fn changed(corpus: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let near = (select(corpus), prop::collection::vec(edit(), 1..6))
        .prop_map(|(bytes, edits)| edited(bytes, edits));
    prop_oneof![9 => near, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

fn name() -> Name {
    Name::from_ascii("a.test.").expect("a name")
}

/// The same cases in every run, unless more are requested.
fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(match std::env::var("PROPTEST_CASES") {
            Ok(cases) => cases.parse().expect("PROPTEST_CASES is a number"),
            Err(_) => 5000,
        })
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_a_message_holds_types_swapped_twice_are_as_they_were(bytes in changed(messages())) {
        let mut swapped = bytes.clone();
        swap_types(&mut swapped);
        swap_types(&mut swapped);
        prop_assert_eq!(swapped, bytes);
    }

    #[test]
    fn whatever_a_response_holds_it_becomes_an_answer_or_is_refused(mut bytes in changed(messages())) {
        swap_types(&mut bytes);
        if let Ok(message) = Message::from_vec(&bytes) {
            for kind in [Kind::A, Kind::Aaaa, Kind::Https] {
                let query = Query::query(name(), kind.record_type());
                let lookup = Lookup::new_with_max_ttl(query, message.answers.clone());
                match Answer::positive(kind, &lookup) {
                    Ok(Answer::Addresses(all)) => prop_assert!(kind != Kind::Https && all.records.len() <= MAX_RECORDS.min(message.answers.len())),
                    Ok(Answer::Services(all)) => prop_assert!(kind == Kind::Https && all.records.len() <= MAX_RECORDS.min(message.answers.len())),
                    Err(_) => prop_assert!(kind == Kind::Https),
                }
            }
        }
    }

    #[test]
    fn whatever_an_https_record_holds_what_is_read_of_it_is_no_longer_than_it(
        data in changed(RECORDS.iter().map(|data| data.to_vec()).collect()),
    ) {
        let owner = name();
        if let Ok(all) = services([(&owner, Duration::from_secs(60), &data[..])].into_iter()) {
            prop_assert_eq!(all.records.len(), 1);
            for service in all.records {
                prop_assert!(4 * service.ipv4_hints.len() + 16 * service.ipv6_hints.len() <= data.len());
                prop_assert!(service.alpn.len() <= data.len() && service.target.len() <= 4 * 255);
                prop_assert!(service.incompatible || service.port != Some(0));
            }
        }
    }
}

#[test]
fn the_corpus_is_read_so_that_changes_of_it_reach_every_check() {
    let mut message = messages().pop().expect("a message");
    swap_types(&mut message);
    let message = Message::from_vec(&message).expect("a valid message");
    assert!(
        message
            .answers
            .iter()
            .any(|record| record.record_type() == DISGUISED)
    );
    let owner = name();
    let read =
        |data: &[u8]| services([(&owner, Duration::from_secs(60), data)].into_iter()).is_ok();
    assert_eq!(RECORDS.map(read), [true, true, true, true, true, false]);
}

//! Modified certificates: a server sends what it likes, and key rules and roots read what webpki has accepted or never
//! saw. They are judged or refused, and nothing panics. `PROPTEST_CASES` sets the number of cases.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use rustls_pki_types::{CertificateDer, UnixTime};

use crate::key_rules;
use crate::trust::TrustStore;

const HOST: &str = "a.test";

/// A root, and a certificate for the host signed by it.
fn chain() -> (Vec<u8>, Vec<u8>) {
    let root_key = rcgen::KeyPair::generate().expect("a key");
    let mut root = rcgen::CertificateParams::new(Vec::new()).expect("no names");
    root.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    root.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign];
    let root_der = root.self_signed(&root_key).expect("a root").der().to_vec();
    let issuer = rcgen::Issuer::new(root, root_key);
    let key = rcgen::KeyPair::generate().expect("a key");
    let mut leaf = rcgen::CertificateParams::new(vec![HOST.to_owned()]).expect("a name");
    leaf.key_usages = vec![rcgen::KeyUsagePurpose::DigitalSignature];
    let leaf_der = leaf
        .signed_by(&key, &issuer)
        .expect("a certificate")
        .der()
        .to_vec();
    (root_der, leaf_der)
}

/// Up to three octets replaced, preferably by values used for DER lengths and tags, and sometimes truncated.
fn changed(der: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        any::<u8>(),
        select(&[0u8, 1, 2, 3, 4, 5, 0x30, 0x7f, 0x80, 0x84, 0xa0, 0xff][..])
    ];
    let edits = prop::collection::vec((any::<Index>(), byte), 1..4);
    (edits, any::<Index>(), 0..10u8).prop_map(move |(edits, end, cut)| {
        let mut der = der.clone();
        for (at, byte) in edits {
            let at = at.index(der.len());
            der[at] = byte;
        }
        if cut == 0 {
            der.truncate(end.index(der.len()));
        }
        der
    })
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(match std::env::var("PROPTEST_CASES") {
            Ok(cases) => cases.parse().expect("PROPTEST_CASES is a number"),
            Err(_) => cases,
        })
    }
}

#[test]
fn whatever_a_certificate_holds_the_key_rules_judge_it() {
    let (root, leaf) = chain();
    let pair = (changed(leaf), changed(root));
    let mut runner = proptest::test_runner::TestRunner::new(config(5000));
    let judged = runner.run(&pair, |(leaf, root)| {
        let [leaf, root] = [leaf, root].map(CertificateDer::from);
        let _ = key_rules::check(&leaf, std::slice::from_ref(&root));
        let _ = key_rules::in_force(&root, UnixTime::now());
        Ok(())
    });
    judged.expect("no panic");
}

#[test]
fn no_changed_certificate_is_trusted() {
    let (root, leaf) = chain();
    let store = TrustStore::new(&[&root], &[]).expect("a root");
    assert_eq!(store.verify(HOST, &[&leaf]).ok(), Some(true));
    let original = leaf.clone();
    let mut runner = proptest::test_runner::TestRunner::new(config(2000));
    let judged = runner.run(&changed(leaf), |changed| {
        let trusted = store.verify(HOST, &[&changed]).is_ok();
        prop_assert!(!trusted || changed == original);
        Ok(())
    });
    judged.expect("only the original is trusted");
}

#[test]
fn whatever_a_list_of_roots_holds_it_is_read_or_refused() {
    let (root, _) = chain();
    let mut runner = proptest::test_runner::TestRunner::new(config(500));
    let read = runner.run(&changed(root.clone()), |changed| {
        if let Ok(store) = TrustStore::new(&[&root], &[&changed]) {
            prop_assert!(store.ignored() <= 1);
        }
        Ok(())
    });
    read.expect("no panic");
}

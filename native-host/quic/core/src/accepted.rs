//! The chains that were accepted a moment ago: both transports of a race and all trials of a series are sent the same one,
//! which is judged once.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// Longer than any series, and too short for a certificate's validity to matter.
const REMEMBERED_FOR: Duration = Duration::from_secs(60);
/// Races at a time with two transports each.
const MAX_CHAINS: usize = 64;
/// A longer chain is judged every time, so that servers cannot fill memory.
const MAX_BYTES: usize = 16 * 1024;

#[derive(Debug)]
struct Accepted {
    at: UnixTime,
    name: ServerName<'static>,
    /// In the order it was sent.
    chain: Vec<Vec<u8>>,
    known_root: bool,
}

/// Accepted chains, by their bytes and the name they were accepted for; refused ones are judged anew.
#[derive(Debug, Default)]
pub(crate) struct AcceptedChains {
    latest: Mutex<VecDeque<Accepted>>,
}

impl AcceptedChains {
    /// Whether exactly this chain was accepted for this name within the last minute; if so, whether it ends in a
    /// publicly known root.
    pub(crate) fn find(
        &self,
        name: &ServerName<'_>,
        chain: &[&CertificateDer<'_>],
        now: UnixTime,
    ) -> Option<bool> {
        let is_fresh = |at: UnixTime| {
            let age = now.as_secs().checked_sub(at.as_secs());
            age.is_some_and(|age| age < REMEMBERED_FOR.as_secs())
        };
        let latest = self.latest();
        let found = latest.iter().find(|accepted| {
            is_fresh(accepted.at)
                && accepted.name == *name
                && accepted.chain.len() == chain.len()
                && accepted
                    .chain
                    .iter()
                    .zip(chain)
                    .all(|(a, b)| a == b.as_ref())
        });
        found.map(|accepted| accepted.known_root)
    }

    pub(crate) fn add(
        &self,
        name: &ServerName<'_>,
        chain: &[&CertificateDer<'_>],
        now: UnixTime,
        known_root: bool,
    ) {
        if chain.iter().map(|each| each.len()).sum::<usize>() > MAX_BYTES {
            return;
        }
        let mut latest = self.latest();
        latest.truncate(MAX_CHAINS - 1);
        latest.push_front(Accepted {
            at: now,
            name: name.to_owned(),
            chain: chain.iter().map(|each| each.to_vec()).collect(),
            known_root,
        });
    }

    fn latest(&self) -> MutexGuard<'_, VecDeque<Accepted>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_secs(seconds))
    }

    fn named(name: &str) -> ServerName<'_> {
        ServerName::try_from(name).expect("a name")
    }

    #[test]
    fn a_chain_is_found_for_its_name_its_bytes_and_a_minute() {
        let accepted = AcceptedChains::default();
        let [leaf, issuer] = [CertificateDer::from(vec![1]), CertificateDer::from(vec![2])];
        accepted.add(&named("a.test"), &[&leaf, &issuer], at(100), true);
        let find = |name: &str, chain: &[&CertificateDer<'_>], seconds: u64| {
            accepted.find(&named(name), chain, at(seconds))
        };
        assert_eq!(find("a.test", &[&leaf, &issuer], 100), Some(true));
        assert_eq!(find("a.test", &[&leaf, &issuer], 159), Some(true));
        assert_eq!(find("a.test", &[&leaf, &issuer], 160), None);
        assert_eq!(find("a.test", &[&leaf, &issuer], 99), None);
        assert_eq!(find("b.test", &[&leaf, &issuer], 100), None);
        assert_eq!(find("a.test", &[&leaf], 100), None);
        assert_eq!(find("a.test", &[&issuer, &leaf], 100), None);
        assert_eq!(find("a.test", &[&leaf, &issuer, &issuer], 100), None);
    }

    #[test]
    fn only_the_latest_are_kept_and_no_long_ones() {
        let accepted = AcceptedChains::default();
        let small = CertificateDer::from(vec![0]);
        for index in 0..=MAX_CHAINS {
            accepted.add(&named(&format!("h{index}.test")), &[&small], at(0), false);
        }
        assert_eq!(accepted.find(&named("h0.test"), &[&small], at(0)), None);
        assert_eq!(
            accepted.find(&named("h1.test"), &[&small], at(0)),
            Some(false)
        );
        let long = CertificateDer::from(vec![0; MAX_BYTES + 1]);
        accepted.add(&named("long.test"), &[&long], at(0), false);
        assert_eq!(accepted.find(&named("long.test"), &[&long], at(0)), None);
    }
}

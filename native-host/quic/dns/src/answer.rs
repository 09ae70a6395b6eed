//! The answer to a question. A negative answer is an empty list, not a failure.

use std::net::IpAddr;
use std::time::Duration;

use hickory_resolver::lookup::Lookup;
use hickory_resolver::proto::rr::{Name, RData, Record};

use crate::disguise::DISGUISED;
use crate::failure::Failure;
use crate::question::Kind;
use crate::service::{self, ServiceRecord};

/// An address and how long it is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressRecord {
    pub address: IpAddr,
    pub ttl: Duration,
}

/// Maximum number of records read per answer. No legitimate host needs more, and a zone with thousands would cause
/// connections to all of them; RFC 8305 has no limit of its own.
pub const MAX_RECORDS: usize = 16;

/// The records of an answer, at most [`MAX_RECORDS`], and how many more it had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records<R> {
    pub records: Vec<R>,
    /// For an HTTPS answer this includes addresses in hints.
    pub left_out: usize,
}

impl<R> Records<R> {
    /// The first of `all`.
    pub(crate) fn first_of(all: impl Iterator<Item = R>) -> Self {
        let mut all = all.fuse();
        let records = all.by_ref().take(MAX_RECORDS).collect();
        Self {
            records,
            left_out: all.count(),
        }
    }

    fn none() -> Self {
        Self {
            records: Vec::new(),
            left_out: 0,
        }
    }
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// To a question for A or AAAA.
    Addresses(Records<AddressRecord>),
    /// To a question for HTTPS.
    Services(Records<ServiceRecord>),
}

impl Answer {
    /// The answer for a record that does not exist.
    pub(crate) fn negative(kind: Kind) -> Self {
        match kind {
            Kind::A | Kind::Aaaa => Self::Addresses(Records::none()),
            Kind::Https => Self::Services(Records::none()),
        }
    }

    pub(crate) fn positive(kind: Kind, lookup: &Lookup) -> Result<Self, Failure> {
        let records = owned(lookup);
        Ok(match kind {
            Kind::Https => {
                let services = service::services(records.filter_map(|(record, ttl)| {
                    let data: &[u8] = match &record.data {
                        RData::Unknown { code, rdata } if *code == DISGUISED => &rdata.anything,
                        // hickory's representation of a record without data.
                        RData::Update0(code) if *code == DISGUISED => &[],
                        _ => return None,
                    };
                    Some((&record.name, ttl, data))
                }));
                Self::Services(services?)
            }
            Kind::A | Kind::Aaaa => {
                Self::Addresses(Records::first_of(records.filter_map(|(record, ttl)| {
                    let address = match (&record.data, kind) {
                        (RData::A(a), Kind::A) => IpAddr::from(a.0),
                        (RData::AAAA(aaaa), Kind::Aaaa) => IpAddr::from(aaaa.0),
                        _ => return None,
                    };
                    Some(AddressRecord { address, ttl })
                })))
            }
        })
    }
}

/// The records of the queried name after following its CNAMEs, each with its TTL or that of the shortest-lived CNAME; a
/// server may send others, which prove nothing.
fn owned(lookup: &Lookup) -> impl Iterator<Item = (&Record, Duration)> {
    let mut owner: &Name = lookup.query().name();
    let mut alias_ttl = u32::MAX;
    for record in lookup.answers() {
        match &record.data {
            RData::CNAME(target) if &record.name == owner => {
                owner = &target.0;
                alias_ttl = alias_ttl.min(record.ttl);
            }
            _ => {}
        }
    }
    lookup
        .answers()
        .iter()
        .filter(move |record| &record.name == owner)
        .map(move |record| {
            let ttl = Duration::from_secs(record.ttl.min(alias_ttl).into());
            (record, ttl)
        })
}

/// A name in the notation of hosts: lower case, without the final dot.
pub(crate) fn host_of(name: &Name) -> String {
    let mut text = name.to_ascii().to_ascii_lowercase();
    if text.len() > 1 && text.ends_with('.') {
        text.pop();
    }
    text
}

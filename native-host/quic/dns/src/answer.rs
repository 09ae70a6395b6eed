//! What a question can be answered with. A negative answer is an empty list, which is no failure.

use std::net::IpAddr;

use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData, Record};

use crate::disguise::DISGUISED;
use crate::question::{Kind, Question};
use crate::service::{self, ServiceRecord};

/// An address and how long it is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressRecord {
    pub address: IpAddr,
    pub ttl_seconds: u32,
}

/// Records of one answer that are read. No honest host needs more to be reached, and a zone that gives thousands would
/// have every one of them connected to; RFC 8305 has no bound of its own.
pub const MOST_RECORDS: usize = 16;

/// The records of an answer, no more than [`MOST_RECORDS`], and how many it had beyond them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records<R> {
    pub records: Vec<R>,
    /// Of an HTTPS answer the addresses in hints count as well.
    pub left_out: usize,
}

impl<R> Records<R> {
    /// The first of `all`.
    pub(crate) fn first_of(all: impl Iterator<Item = R>) -> Self {
        let mut all = all.fuse();
        let records = all.by_ref().take(MOST_RECORDS).collect();
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

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// To a question for A or AAAA.
    Addresses(Records<AddressRecord>),
    /// To a question for HTTPS.
    Services(Records<ServiceRecord>),
    /// There is no answer, in words for a person.
    Failed(String),
}

impl Answer {
    /// The answer that says that there is no such record.
    pub(crate) fn negative(kind: Kind) -> Self {
        match kind {
            Kind::A | Kind::Aaaa => Self::Addresses(Records::none()),
            Kind::Https => Self::Services(Records::none()),
        }
    }

    pub(crate) fn positive(kind: Kind, lookup: &Lookup) -> Self {
        let records = owned(lookup);
        match kind {
            Kind::Https => {
                let services = service::services(records.filter_map(|(record, ttl)| {
                    let data: &[u8] = match &record.data {
                        RData::Unknown { code, rdata } if *code == DISGUISED => &rdata.anything,
                        // What hickory makes of a record without data.
                        RData::Update0(code) if *code == DISGUISED => &[],
                        _ => return None,
                    };
                    Some((&record.name, ttl, data))
                }));
                services.map_or_else(|why| Self::Failed(why.to_string()), Self::Services)
            }
            Kind::A | Kind::Aaaa => Self::Addresses(Records::first_of(records.filter_map(
                |(record, ttl_seconds)| {
                    let address = match (&record.data, kind) {
                        (RData::A(a), Kind::A) => IpAddr::from(a.0),
                        (RData::AAAA(aaaa), Kind::Aaaa) => IpAddr::from(aaaa.0),
                        _ => return None,
                    };
                    Some(AddressRecord {
                        address,
                        ttl_seconds,
                    })
                },
            ))),
        }
    }

    pub(crate) fn failed(question: &Question, error: &NetError) -> Self {
        match error {
            NetError::Dns(DnsError::NoRecordsFound(none))
                if matches!(
                    none.response_code,
                    ResponseCode::NoError | ResponseCode::NXDomain
                ) =>
            {
                Self::negative(question.kind)
            }
            NetError::Dns(DnsError::NoRecordsFound(none)) => {
                Self::Failed(refusal(none.response_code))
            }
            NetError::Dns(DnsError::ResponseCode(code)) => Self::Failed(refusal(*code)),
            NetError::NoConnections => Self::Failed("the DNS server cannot be reached".to_owned()),
            NetError::Timeout => Self::Failed("the DNS server did not answer".to_owned()),
            NetError::Io(error) => {
                Self::Failed(format!("the DNS server cannot be reached: {error}"))
            }
            NetError::Proto(error) => {
                Self::Failed(format!("the DNS server's answer is malformed: {error}"))
            }
            other => Self::Failed(format!("no usable answer from the DNS server: {other}")),
        }
    }

    pub(crate) fn timed_out(question: &Question) -> Self {
        let ms = question.timeout.as_secs_f64() * 1000.0;
        Self::Failed(format!("the DNS server did not answer within {ms} ms"))
    }
}

fn refusal(code: ResponseCode) -> String {
    let name = match code {
        ResponseCode::ServFail => "SERVFAIL",
        ResponseCode::Refused => "REFUSED",
        ResponseCode::FormErr => "FORMERR",
        ResponseCode::NotImp => "NOTIMP",
        _ => return format!("the DNS server answered with code {}", u16::from(code)),
    };
    format!("the DNS server answered {name}")
}

/// The records that belong to the name that was asked for, its CNAMEs followed, each with its TTL
/// or that of the shortest-lived CNAME; a server may send others, which prove nothing.
fn owned(lookup: &Lookup) -> impl Iterator<Item = (&Record, u32)> {
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
        .map(move |record| (record, record.ttl.min(alias_ttl)))
}

/// A name as hosts are written: lower case, without the final dot.
pub(crate) fn host_of(name: &Name) -> String {
    let mut text = name.to_ascii().to_ascii_lowercase();
    if text.len() > 1 && text.ends_with('.') {
        text.pop();
    }
    text
}

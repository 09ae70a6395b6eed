//! Reads the parts of HTTPS records (RFC 9460) that races use, from their octets, and determines which records must be
//! ignored.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use hickory_resolver::proto::rr::Name;

use crate::answer::{MAX_RECORDS, Records, host_of};

/// An HTTPS record; priority 0 is AliasMode and has only a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceRecord {
    /// The owner name of the record, after CNAMEs.
    pub owner: String,
    pub priority: u16,
    /// The TargetName; in ServiceMode `.` is replaced by the owner (section 2.5.2).
    pub target: String,
    /// Identifiers are any octets (section 7.1.1); one that is not UTF-8 is escaped, and never one that we support.
    pub alpn: Vec<String>,
    pub no_default_alpn: bool,
    pub port: Option<u16>,
    pub ipv4_hints: Vec<Ipv4Addr>,
    pub ipv6_hints: Vec<Ipv6Addr>,
    /// Whether it contains an ECH configuration.
    pub ech: bool,
    /// It must be ignored: a mandatory key is not supported (section 8), it contradicts itself (section 2.4.3), or a
    /// record of its set is malformed (section 2.2).
    pub incompatible: bool,
    pub ttl: Duration,
}

/// The data do not have the format of section 2.2, or a value not that of its key.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the HTTPS record is malformed")]
#[non_exhaustive]
pub struct MalformedRecord;

/// Parameters (section 14.3.2).
mod key {
    pub(super) const MANDATORY: u16 = 0;
    pub(super) const ALPN: u16 = 1;
    pub(super) const NO_DEFAULT_ALPN: u16 = 2;
    pub(super) const PORT: u16 = 3;
    pub(super) const IPV4_HINT: u16 = 4;
    pub(super) const ECH: u16 = 5;
    pub(super) const IPV6_HINT: u16 = 6;
    /// Mandatory keys that we support; ECH is not one of them.
    pub(super) const UNDERSTOOD: [u16; 6] =
        [MANDATORY, ALPN, NO_DEFAULT_ALPN, PORT, IPV4_HINT, IPV6_HINT];
}

/// The HTTPS records of one answer. One malformed record makes the client reject its whole set (section 2.2): then all
/// readable ones are incompatible, and if there are none there is no answer. If there are too many, the best are kept.
pub(crate) fn services<'a>(
    records: impl Iterator<Item = (&'a Name, Duration, &'a [u8])>,
) -> Result<Records<ServiceRecord>, MalformedRecord> {
    let mut malformed = false;
    let mut services: Vec<_> = records
        .filter_map(|(owner, ttl, data)| {
            let service = service(owner, ttl, data);
            malformed |= service.is_err();
            service.ok()
        })
        .collect();
    if malformed && services.is_empty() {
        return Err(MalformedRecord);
    }
    services.sort_by_key(|service| service.priority);
    let mut read = Records::first_of(services.into_iter());
    for service in &mut read.records {
        service.incompatible |= malformed;
        read.left_out += shortened(&mut service.ipv4_hints) + shortened(&mut service.ipv6_hints);
    }
    Ok(read)
}

/// Limits hints to the number of records of an answer; returns how many were removed.
fn shortened<A>(hints: &mut Vec<A>) -> usize {
    let beyond = hints.len().saturating_sub(MAX_RECORDS);
    hints.truncate(MAX_RECORDS);
    beyond
}

fn service(owner: &Name, ttl: Duration, data: &[u8]) -> Result<ServiceRecord, MalformedRecord> {
    let mut rest = data;
    let priority = take_u16(&mut rest)?;
    let target = take_name(&mut rest)?;
    let owner = host_of(owner);
    let mut service = ServiceRecord {
        // In AliasMode the root means that there is no service (section 2.5.1), and the owner's own name is a loop.
        target: match target.is_root() && priority != 0 {
            true => owner.clone(),
            false => host_of(&target),
        },
        owner,
        priority,
        alpn: Vec::new(),
        no_default_alpn: false,
        port: None,
        ipv4_hints: Vec::new(),
        ipv6_hints: Vec::new(),
        ech: false,
        incompatible: false,
        ttl,
    };
    // In AliasMode recipients ignore any parameters (section 2.4.2).
    if priority == 0 {
        return Ok(service);
    }
    let mut keys = Vec::new();
    let mut mandatory = Vec::new();
    while !rest.is_empty() {
        let key = take_u16(&mut rest)?;
        if keys.last().is_some_and(|last| *last >= key) {
            return Err(MalformedRecord);
        }
        keys.push(key);
        let length = take_u16(&mut rest)?;
        let value = take(&mut rest, length.into())?;
        match key {
            key::MANDATORY => mandatory = mandatory_keys(value)?,
            _ => read(&mut service, key, value)?,
        }
    }
    let beyond_us = |key: &u16| !key::UNDERSTOOD.contains(key) || !keys.contains(key);
    // Port 0 cannot be reached, and without the default protocol there must be another (section 7.1.1).
    service.incompatible = mandatory.iter().any(beyond_us)
        || service.port == Some(0)
        || (service.no_default_alpn && service.alpn.is_empty());
    Ok(service)
}

/// Stores one parameter's value in its field; unknown keys are ignored.
fn read(service: &mut ServiceRecord, key: u16, value: &[u8]) -> Result<(), MalformedRecord> {
    match key {
        key::ALPN => service.alpn = identifiers(value)?,
        key::NO_DEFAULT_ALPN if value.is_empty() => service.no_default_alpn = true,
        key::PORT => {
            let port: [u8; 2] = value.try_into().map_err(|_| MalformedRecord)?;
            service.port = Some(u16::from_be_bytes(port));
        }
        key::IPV4_HINT => service.ipv4_hints = addresses::<4, _>(value)?,
        key::IPV6_HINT => service.ipv6_hints = addresses::<16, _>(value)?,
        key::ECH if !value.is_empty() => service.ech = true,
        key::NO_DEFAULT_ALPN | key::ECH => return Err(MalformedRecord),
        _ => {}
    }
    Ok(())
}

fn identifiers(mut value: &[u8]) -> Result<Vec<String>, MalformedRecord> {
    let mut identifiers = Vec::new();
    while let [length, rest @ ..] = value {
        value = rest;
        let identifier = take(&mut value, (*length).into())?;
        if identifier.is_empty() {
            return Err(MalformedRecord);
        }
        identifiers.push(match str::from_utf8(identifier) {
            Ok(text) => text.to_owned(),
            Err(_) => identifier.escape_ascii().to_string(),
        });
    }
    match identifiers.is_empty() {
        true => Err(MalformedRecord),
        false => Ok(identifiers),
    }
}

fn addresses<const OCTETS: usize, A: From<[u8; OCTETS]>>(
    value: &[u8],
) -> Result<Vec<A>, MalformedRecord> {
    let (octets, []) = value.as_chunks::<OCTETS>() else {
        return Err(MalformedRecord);
    };
    match octets {
        [] => Err(MalformedRecord),
        octets => Ok(octets.iter().map(|octets| A::from(*octets)).collect()),
    }
}

/// The list of section 8: not empty, in order, and without itself.
fn mandatory_keys(mut value: &[u8]) -> Result<Vec<u16>, MalformedRecord> {
    let mut keys = Vec::new();
    while !value.is_empty() {
        keys.push(take_u16(&mut value)?);
    }
    let sound =
        !keys.is_empty() && keys.is_sorted_by(|a, b| a < b) && !keys.contains(&key::MANDATORY);
    if sound {
        Ok(keys)
    } else {
        Err(MalformedRecord)
    }
}

/// A name without compression (section 2.2).
fn take_name(rest: &mut &[u8]) -> Result<Name, MalformedRecord> {
    let mut labels = Vec::new();
    loop {
        let length = take(rest, 1)?[0];
        if length == 0 {
            break;
        }
        // Longer than a label may be: a pointer, or invalid, which the name rejects.
        labels.push(take(rest, length.into())?);
    }
    Name::from_labels(labels).map_err(|_| MalformedRecord)
}

fn take_u16(rest: &mut &[u8]) -> Result<u16, MalformedRecord> {
    let octets = take(rest, 2)?;
    Ok(u16::from_be_bytes([octets[0], octets[1]]))
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], MalformedRecord> {
    rest.split_off(..count).ok_or(MalformedRecord)
}

//! HTTPS records (RFC 9460) as far as a race has a use for them, and which of them must be ignored.

use std::net::{Ipv4Addr, Ipv6Addr};

use hickory_resolver::proto::rr::Name;
use hickory_resolver::proto::rr::rdata::svcb::{Mandatory, SVCB, SvcParamKey, SvcParamValue};

use crate::answer::host_of;

/// An HTTPS record; priority 0 is AliasMode and carries nothing but its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceRecord {
    /// The name whose record it is, CNAMEs followed.
    pub owner: String,
    pub priority: u16,
    /// The TargetName; `.` is written out as the owner (section 2.5.2).
    pub target: String,
    pub alpn: Vec<String>,
    pub no_default_alpn: bool,
    pub port: Option<u16>,
    pub ipv4_hints: Vec<Ipv4Addr>,
    pub ipv6_hints: Vec<Ipv6Addr>,
    /// Whether it carries an ECH configuration.
    pub ech: bool,
    /// It must be ignored: a mandatory key is beyond us (section 8), it contradicts itself (section
    /// 2.4.3), or a record of its set is malformed (section 2.2).
    pub incompatible: bool,
    pub ttl_seconds: u32,
}

/// What becomes of a record beside its fields.
#[derive(Default, Clone, Copy)]
struct Faults {
    /// It cannot be used.
    incompatible: bool,
    /// Its whole set cannot be used.
    malformed: bool,
}

/// The HTTPS records of one answer. One malformed record makes the client reject its whole set
/// (section 2.2): then all are incompatible.
pub(crate) fn services<'a>(
    records: impl Iterator<Item = (&'a Name, u32, &'a SVCB)>,
) -> Vec<ServiceRecord> {
    let mut malformed = false;
    let mut services: Vec<_> = records
        .map(|(owner, ttl, svcb)| {
            let (service, faults) = service(owner, ttl, svcb);
            malformed |= faults.malformed;
            service
        })
        .collect();
    if malformed {
        for service in &mut services {
            service.incompatible = true;
        }
    }
    services
}

fn service(owner: &Name, ttl_seconds: u32, svcb: &SVCB) -> (ServiceRecord, Faults) {
    let owner = host_of(owner);
    let target = match svcb.target_name.is_root() {
        true => owner.clone(),
        false => host_of(&svcb.target_name),
    };
    let mut service = ServiceRecord {
        owner,
        priority: svcb.svc_priority,
        target,
        alpn: Vec::new(),
        no_default_alpn: false,
        port: None,
        ipv4_hints: Vec::new(),
        ipv6_hints: Vec::new(),
        ech: false,
        incompatible: false,
        ttl_seconds,
    };
    // In AliasMode recipients ignore any parameters (section 2.4.2).
    if svcb.svc_priority == 0 {
        return (service, Faults::default());
    }
    let mut faults = Faults::default();
    for (_, value) in &svcb.svc_params {
        faults = faults.and(take(&mut service, value, svcb));
    }
    // Without a default there must be something instead (section 7.1.1).
    faults.incompatible |= service.no_default_alpn && service.alpn.is_empty();
    service.incompatible = faults.incompatible;
    (service, faults)
}

fn take(service: &mut ServiceRecord, value: &SvcParamValue, svcb: &SVCB) -> Faults {
    let mut faults = Faults::default();
    match value {
        SvcParamValue::Mandatory(mandatory) => faults = faults_of(mandatory, svcb),
        SvcParamValue::Alpn(alpn) => {
            service.alpn.clone_from(&alpn.0);
            faults.malformed = alpn.0.iter().any(String::is_empty);
        }
        SvcParamValue::NoDefaultAlpn => service.no_default_alpn = true,
        // Nothing can be reached there.
        SvcParamValue::Port(0) => faults.incompatible = true,
        SvcParamValue::Port(port) => service.port = Some(*port),
        SvcParamValue::Ipv4Hint(hint) => {
            service.ipv4_hints = hint.0.iter().map(|address| address.0).collect();
            faults.malformed = hint.0.is_empty();
        }
        SvcParamValue::Ipv6Hint(hint) => {
            service.ipv6_hints = hint.0.iter().map(|address| address.0).collect();
            faults.malformed = hint.0.is_empty();
        }
        SvcParamValue::EchConfigList(list) => {
            service.ech = true;
            faults.malformed = list.0.is_empty();
        }
        SvcParamValue::Unknown(_) => {}
    }
    faults
}

/// The list's form (section 8), and whether we can do what it demands; ECH we cannot.
fn faults_of(mandatory: &Mandatory, svcb: &SVCB) -> Faults {
    let numbers: Vec<u16> = mandatory.0.iter().map(|key| u16::from(*key)).collect();
    let present = |key: &SvcParamKey| svcb.svc_params.iter().any(|(other, _)| other == key);
    Faults {
        malformed: !numbers.is_sorted_by(|a, b| a < b)
            || mandatory.0.contains(&SvcParamKey::Mandatory),
        incompatible: mandatory
            .0
            .iter()
            .any(|key| !understood(key) || !present(key)),
    }
}

fn understood(key: &SvcParamKey) -> bool {
    matches!(
        key,
        SvcParamKey::Mandatory
            | SvcParamKey::Alpn
            | SvcParamKey::NoDefaultAlpn
            | SvcParamKey::Port
            | SvcParamKey::Ipv4Hint
            | SvcParamKey::Ipv6Hint
    )
}

impl Faults {
    fn and(self, other: Self) -> Self {
        Self {
            incompatible: self.incompatible || other.incompatible,
            malformed: self.malformed || other.malformed,
        }
    }
}

//! Why a question has no answer.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::ProtoError;
use hickory_resolver::proto::op::ResponseCode;

use crate::service::MalformedRecord;

/// There is no answer; its display is for people.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The RCODE is neither NOERROR nor NXDOMAIN (RFC 6895 section 2.3).
    #[error("the DNS server answered {}", rcode(*.0))]
    Refused(u16),
    #[error("the DNS server cannot be reached: {0}")]
    Unreachable(Arc<io::Error>),
    #[error("the DNS server cannot be reached")]
    NoConnection,
    /// The hosts file gives the addresses of the name, so DNS is not asked about it.
    #[error("the hosts file gives its address, so DNS was not asked")]
    GivenByHosts,
    /// The resolver gave up before the question's time-out.
    #[error("the DNS server did not answer")]
    NoAnswer,
    #[error("the DNS server did not answer within {} ms", .0.as_secs_f64() * 1000.0)]
    TimedOut(Duration),
    #[error("the DNS server's answer is malformed: {0}")]
    Malformed(ProtoError),
    #[error(transparent)]
    MalformedRecord(#[from] MalformedRecord),
    #[error("no usable answer from the DNS server: {0}")]
    Unusable(NetError),
}

impl Failure {
    /// The meaning of a resolver error; `None`: there is no such record.
    pub(crate) fn from_resolver(error: NetError) -> Option<Self> {
        let refused = |code: ResponseCode| Self::Refused(code.into());
        Some(match error {
            NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
                ResponseCode::NoError | ResponseCode::NXDomain => return None,
                code => refused(code),
            },
            NetError::Dns(DnsError::ResponseCode(code)) => refused(code),
            NetError::NoConnections => Self::NoConnection,
            NetError::Timeout => Self::NoAnswer,
            NetError::Io(error) => Self::Unreachable(error),
            NetError::Proto(error) => Self::Malformed(error),
            other => Self::Unusable(other),
        })
    }
}

/// A response code by its registered name, or its number.
fn rcode(code: u16) -> String {
    let name = match code {
        1 => "FORMERR",
        2 => "SERVFAIL",
        4 => "NOTIMP",
        5 => "REFUSED",
        _ => return format!("with code {code}"),
    };
    name.to_owned()
}

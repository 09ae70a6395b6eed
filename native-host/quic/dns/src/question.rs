//! Questions, validated once: nothing behind this sees a name that DNS cannot represent.

use std::time::Duration;

use hickory_resolver::proto::ProtoError;
use hickory_resolver::proto::rr::{Name, RecordType};

use crate::disguise::DISGUISED;

/// A record type used by races.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    A,
    Aaaa,
    Https,
}

impl Kind {
    pub(crate) fn record_type(self) -> RecordType {
        match self {
            Self::A => RecordType::A,
            Self::Aaaa => RecordType::AAAA,
            Self::Https => DISGUISED,
        }
    }
}

/// An invalid name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidName {
    #[error("{name:?} is no domain name: {error}")]
    NotADomain { name: String, error: ProtoError },
    #[error("the name is empty")]
    Empty,
}

/// One name, one record type, and how long to wait for the answer.
#[derive(Debug, Clone)]
pub struct Question {
    pub(crate) name: Name,
    pub(crate) kind: Kind,
    pub(crate) timeout: Duration,
}

impl Question {
    /// `name` is ASCII; a host that contains a dot is absolute, with or without a final dot, so that no search domain is
    /// appended.
    pub fn new(name: &str, kind: Kind, timeout: Duration) -> Result<Self, InvalidName> {
        let name = Name::from_ascii(name).map_err(|error| InvalidName::NotADomain {
            name: name.to_owned(),
            error,
        })?;
        if name.num_labels() == 0 {
            return Err(InvalidName::Empty);
        }
        let mut question = Self {
            name,
            kind,
            timeout,
        };
        if question.host().num_labels() > 1 {
            question.name.set_fqdn(true);
        }
        Ok(question)
    }

    /// The host that the question is about: names of HTTPS records for other ports have a prefix (RFC 9460 section 9.1).
    pub(crate) fn host(&self) -> Name {
        let labels = self.name.num_labels();
        let mut first = self.name.iter();
        let is_port = |label: &[u8]| {
            label
                .strip_prefix(b"_")
                .is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
        };
        let is_prefixed = self.kind == Kind::Https
            && labels > 2
            && first.next().is_some_and(is_port)
            && first
                .next()
                .is_some_and(|label| label.eq_ignore_ascii_case(b"_https"));
        if is_prefixed {
            self.name.trim_to(usize::from(labels) - 2)
        } else {
            self.name.clone()
        }
    }
}

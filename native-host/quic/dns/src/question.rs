//! What can be asked, validated once: nothing behind this door sees a name that DNS cannot carry.

use std::fmt;
use std::time::Duration;

use hickory_resolver::proto::rr::{Name, RecordType};

use crate::disguise::DISGUISED;

/// Longest wait an owner can ask for: ten minutes, far beyond any race.
const LONGEST_WAIT_MS: f64 = 600_000.0;

/// A record type that a race has a use for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// A question that cannot be asked, in words for the person who wrote the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidQuestion(String);

impl fmt::Display for InvalidQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidQuestion {}

/// One name, one record type, and how long to wait for the answer.
#[derive(Debug, Clone)]
pub struct Question {
    pub(crate) name: Name,
    pub(crate) kind: Kind,
    pub(crate) patience: Duration,
}

impl Question {
    /// `name` is ASCII; one with a dot is absolute whether it ends in one or not, so that no search
    /// domain is put behind it.
    pub fn new(name: &str, kind: Kind, patience_ms: f64) -> Result<Self, InvalidQuestion> {
        let mut parsed = Name::from_ascii(name)
            .map_err(|error| InvalidQuestion(format!("{name:?} is no domain name: {error}")))?;
        if parsed.num_labels() == 0 {
            return Err(InvalidQuestion("the name is empty".to_owned()));
        }
        if parsed.num_labels() > 1 {
            parsed.set_fqdn(true);
        }
        // NaN fails the range check too.
        if !(0.001..=LONGEST_WAIT_MS).contains(&patience_ms) {
            return Err(InvalidQuestion(format!(
                "the time-out must be between 0.001 and {LONGEST_WAIT_MS} ms, not {patience_ms}"
            )));
        }
        Ok(Self {
            name: parsed,
            kind,
            patience: Duration::from_secs_f64(patience_ms / 1000.0),
        })
    }
}

//! One HTTP/3 attempt: a QUIC handshake with one pinned address and, when its owner asks, one request.
//! Knows nothing of Node, races or caches, so `cargo test` covers it against real servers.

mod alerts;
mod attempt;
mod cancel;
mod clock;
mod exchange;
mod failure;
#[cfg(test)]
mod fuzz;
mod key_rules;
mod options;
mod refusal;
mod socket;
mod transport;
mod trust;

pub use attempt::{Connection, Established, QUIC_VERSION, connect};
pub use cancel::Cancel;
pub use exchange::Response;
pub use failure::{CertificateReason, Failure, FailureCode};
pub use options::{ConnectOptions, InvalidInput, Request};
pub use refusal::Refusal;
pub use socket::Traffic;
pub use trust::{TrustStore, warm_up};

//! One DNS question at a time, its answer as data: what discovery asks about an origin before a race.
//! Knows nothing of Node, races or guards, so `cargo test` covers it against real servers.

mod answer;
mod client;
mod disguise;
#[cfg(test)]
mod fuzz;
mod question;
mod route;
mod service;
mod socket;

pub use answer::{AddressRecord, Answer, MOST_RECORDS, Records};
pub use client::{Client, Unusable};
pub use question::{InvalidQuestion, Kind, Question};
pub use route::source_for;
pub use service::ServiceRecord;

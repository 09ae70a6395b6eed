//! One DNS question at a time, its answer as data: what discovery asks about an origin before a race.
//! Knows nothing of Node, races or guards, so `cargo test` covers it against real servers.
//!
//! A [`Client`] remembers nothing; each [`Question`] is asked anew, over UDP and where that truncates over TCP. That there
//! is no such record is an [`Answer`] with an empty list, and no failure.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use photofinish_dns::{Answer, Client, Kind, Question};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::of_server("192.0.2.53:53".parse()?)?;
//! let question = Question::new("example.org", Kind::Https, Duration::from_secs(3))?;
//! match client.ask(&question).await {
//!     Answer::Services(answer) => println!("{:?}", answer.records),
//!     Answer::Addresses(_) => unreachable!("nobody asked for any"),
//!     Answer::Failed(why) => println!("{why}"),
//! }
//! # Ok(())
//! # }
//! ```

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
pub use client::{Client, ConfigError};
pub use question::{InvalidName, Kind, Question};
pub use route::source_for;
pub use service::ServiceRecord;

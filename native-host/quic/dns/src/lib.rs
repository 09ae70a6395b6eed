//! One DNS question at a time, its answer as data: what discovery asks about an origin before a race.
//! Knows nothing of Node, races or guards, so `cargo test` covers it against real servers.
//!
//! A [`Client`] remembers nothing; each [`Question`] is asked anew, over UDP and where that truncates over TCP. That there
//! is no such record is an [`Answer`] with an empty list, and no [`Failure`].
//!
//! ```
//! use std::time::Duration;
//!
//! use photofinish_dns::{Answer, Client, Kind, Question};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let socket = std::net::UdpSocket::bind("127.0.0.1:0")?;
//! # let server = socket.local_addr()?;
//! # // The question comes back as the answer NXDOMAIN.
//! # std::thread::spawn(move || -> std::io::Result<usize> {
//! #     let mut message = [0; 512];
//! #     let (length, client) = socket.recv_from(&mut message)?;
//! #     (message[2], message[3]) = (message[2] | 0x80, 3);
//! #     socket.send_to(&message[..length], client)
//! # });
//! let client = Client::of_server(server)?;
//! let question = Question::new("example.org", Kind::Https, Duration::from_secs(3))?;
//! match client.ask(&question).await? {
//!     Answer::Services(answer) => assert_eq!(answer.records, [], "that server knows no name"),
//!     Answer::Addresses(_) => unreachable!("nobody asked for any"),
//! }
//! # Ok(())
//! # }
//! ```

mod answer;
mod client;
mod disguise;
mod failure;
#[cfg(test)]
mod fuzz;
mod question;
mod route;
mod service;
mod socket;

pub use answer::{AddressRecord, Answer, MAX_RECORDS, Records};
pub use client::{Client, ConfigError};
pub use failure::Failure;
pub use question::{InvalidName, Kind, Question};
pub use route::source_for;
pub use service::{MalformedRecord, ServiceRecord};

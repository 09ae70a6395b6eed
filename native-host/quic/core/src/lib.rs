//! One HTTP/3 attempt: a QUIC handshake with one pinned address and, when its owner asks, one request.
//! Knows nothing of Node, races or caches, so `cargo test` covers it against real servers.
//!
//! [`connect`] shakes hands and sends nothing of HTTP/3 yet: a race may settle on another protocol. The [`Connection`] that
//! it gives takes one [`Request`], or is dropped, which closes it. [`Cancel`] ends either half at once. Every time counts
//! from the attempt's start; an [`AttemptFailure`] says what went wrong and what had been exchanged by then.
//!
//! ```
//! use std::net::UdpSocket;
//! use std::time::Duration;
//!
//! use photofinish_quic::{Cancel, ConnectOptions, Request, ServerName, TrustStore, connect};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let root = rcgen::generate_simple_self_signed(["example.org".to_owned()])?;
//! # let roots = root.cert.pem();
//! let trust = TrustStore::new(&[roots], &[])?;
//! let remote = UdpSocket::bind("127.0.0.1:0")?.local_addr()?; // Closed by now.
//! let options = ConnectOptions::new(remote, ServerName::try_from("example.org")?)
//!     .initial_rtt(Duration::from_millis(25))
//!     .handshake_timeout(Duration::from_secs(3));
//! match connect(&trust, &options, &Cancel::default()).await {
//!     Ok(connection) => {
//!         println!("established after {:?}", connection.handshake().after);
//!         let request = Request::get("example.org", "/")?.deadline(Duration::from_secs(3));
//!         let response = connection.request(&request).await?;
//!         println!("{} after {:?}", response.status, response.first_byte);
//!     }
//!     Err(failure) => assert_eq!(failure.cause.code(), "udp-refused"),
//! }
//! # Ok(())
//! # }
//! ```

mod accepted;
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

pub use attempt::{Connection, Handshake, QUIC_VERSION, connect};
pub use cancel::Cancel;
pub use exchange::Response;
pub use failure::{
    AttemptFailure, ErrorCode, Failure, IncompleteResponse, ResponseHead, Termination,
};
pub use http::HeaderValue;
pub use options::{ConnectOptions, InvalidRequest, Request};
pub use quinn::Side;
pub use refusal::{CertificateReason, Refusal};
pub use rustls_pki_types::ServerName;
pub use socket::Traffic;
pub use trust::{TrustError, TrustStore, system_roots, warm_up};

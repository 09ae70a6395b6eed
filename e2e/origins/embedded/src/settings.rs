//! The caller's settings: one JSON document, parsed once, typed from there on.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use serde::Deserialize;

/// The whole document: where certificates go and which origins to serve.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Settings {
    /// Directory for `ca.pem` and one certificate and key per host; created if absent.
    pub dir: PathBuf,
    pub origins: Vec<OriginSettings>,
    /// Further hosts that get a certificate but no listener here (for other servers).
    #[serde(default)]
    pub certificate_hosts: Vec<String>,
    /// An earlier run wrote certificates for all these hosts to `dir`; they are reused.
    #[serde(default)]
    pub issued: bool,
    /// One JSON line on stderr for every request.
    #[serde(default)]
    pub log: bool,
}

/// One origin: its host and port, and what it speaks, advertises and hides.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OriginSettings {
    pub host: String,
    /// 0 chooses a port that is free for both UDP and TCP.
    #[serde(default)]
    pub port: u16,
    #[serde(default = "loopback")]
    pub address: IpAddr,
    /// Listen on UDP and speak HTTP/3.
    pub h3: bool,
    /// Listen on TCP and speak `protocols`.
    #[serde(default = "yes")]
    pub tcp: bool,
    /// ALPN protocols on TCP, in the server's order of preference.
    #[serde(default = "h2_and_h1")]
    pub protocols: Vec<TcpProtocol>,
    /// The Alt-Svc field (RFC 7838), `auto` for HTTP/3 on the origin's own port; none if absent.
    #[serde(default)]
    pub alt_svc: Option<String>,
    /// Send `Timing-Allow-Origin: *`, without which pages cannot see the protocol of this origin.
    #[serde(default = "yes")]
    pub timing_allow_origin: bool,
    #[serde(default)]
    pub answer_delay_ms: u64,
    /// Text of this length is served instead of the index page; 0 serves the page.
    #[serde(default)]
    pub body_bytes: usize,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
pub enum TcpProtocol {
    #[serde(rename = "h2")]
    H2,
    #[serde(rename = "http/1.1")]
    Http1,
}

impl TcpProtocol {
    /// The name in the TLS ALPN registry.
    pub fn alpn(self) -> &'static str {
        match self {
            TcpProtocol::H2 => "h2",
            TcpProtocol::Http1 => "http/1.1",
        }
    }
}

fn loopback() -> IpAddr {
    IpAddr::V4(Ipv4Addr::LOCALHOST)
}

fn yes() -> bool {
    true
}

fn h2_and_h1() -> Vec<TcpProtocol> {
    vec![TcpProtocol::H2, TcpProtocol::Http1]
}

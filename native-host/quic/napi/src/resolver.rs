//! The Node binding of `photofinish-dns`: a failed question is a value, a wrong argument an exception.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use napi::Env;
use napi::bindgen_prelude::{AsyncBlock, AsyncBlockBuilder, Error, Result, Status};
use napi_derive::napi;
use photofinish_dns as dns;
use photofinish_quic::Cancel;

use crate::options::{duration, invalid};

/// A stub resolver without memory.
#[napi]
pub struct DnsResolver {
    client: Arc<dns::Client>,
}

#[napi]
impl DnsResolver {
    /// `server`: `address:port`; without one the system's configuration as it is now.
    /// Throws when the server is no address, or the system has no configuration to ask with.
    #[napi(constructor, catch_unwind)]
    pub fn new(server: Option<String>) -> Result<Self> {
        let client = match server {
            None => dns::Client::system(),
            Some(server) => dns::Client::of_server(
                server
                    .parse::<SocketAddr>()
                    .map_err(|_| invalid(format!("server must be address:port, not {server:?}")))?,
            ),
        };
        let client = client.map_err(|why| Error::new(Status::GenericFailure, why.to_string()))?;
        Ok(Self {
            client: Arc::new(client),
        })
    }
}

/// An address and how long it is good for.
#[napi(object, object_from_js = false)]
pub struct DnsAddress {
    pub address: String,
    pub ttl_seconds: u32,
}

/// An HTTPS record (RFC 9460).
#[napi(object, object_from_js = false)]
pub struct DnsService {
    pub owner: String,
    pub priority: u32,
    pub target: String,
    pub alpn: Vec<String>,
    pub no_default_alpn: bool,
    pub port: Option<u32>,
    pub ipv4_hints: Vec<String>,
    pub ipv6_hints: Vec<String>,
    pub ech: bool,
    pub incompatible: bool,
    pub ttl_seconds: u32,
}

/// How a question ended; an empty list is a negative answer. `leftOut`: records that the answer had beyond those read.
#[napi(
    discriminant = "outcome",
    discriminant_case = "lowercase",
    object_from_js = false
)]
pub enum DnsAnswer {
    Addresses {
        addresses: Vec<DnsAddress>,
        left_out: u32,
    },
    Services {
        services: Vec<DnsService>,
        left_out: u32,
    },
    Failed {
        message: String,
    },
    /// DNS was not asked at all, and what it says of the name is unknown.
    Unasked {
        message: String,
    },
}

/// One question: `ask` it, `cancel` at any time.
#[napi]
pub struct DnsQuestion {
    client: Arc<dns::Client>,
    question: dns::Question,
    cancel: Cancel,
}

#[napi]
impl DnsQuestion {
    /// Throws when the name cannot be asked for or the time-out makes no sense. Nothing is sent yet.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        resolver: &DnsResolver,
        name: String,
        #[napi(ts_arg_type = "'A' | 'AAAA' | 'HTTPS'")] kind: String,
        timeout_ms: f64,
    ) -> Result<Self> {
        let kind = match kind.as_str() {
            "A" => dns::Kind::A,
            "AAAA" => dns::Kind::Aaaa,
            "HTTPS" => dns::Kind::Https,
            other => {
                return Err(invalid(format!(
                    "kind must be A, AAAA or HTTPS, not {other:?}"
                )));
            }
        };
        let timeout = duration("timeoutMs", timeout_ms)?;
        let question = dns::Question::new(&name, kind, timeout).map_err(invalid)?;
        Ok(Self {
            client: resolver.client.clone(),
            question,
            cancel: Cancel::default(),
        })
    }

    /// Never rejects.
    #[napi]
    pub fn ask(&self, env: &Env) -> Result<AsyncBlock<DnsAnswer>> {
        let (client, question, cancel) = (
            self.client.clone(),
            self.question.clone(),
            self.cancel.clone(),
        );
        AsyncBlockBuilder::new(async move {
            // A task of its own, so that a panic ends this question and not the process.
            let task = tokio::spawn(async move {
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => DnsAnswer::failed("the question was cancelled"),
                    answer = client.ask(&question) => answer.into(),
                }
            });
            Ok(task
                .await
                .unwrap_or_else(|panic| DnsAnswer::failed(format!("the resolver failed: {panic}"))))
        })
        .build(env)
    }

    /// What is pending resolves as failed at once; nothing more is sent.
    #[napi]
    pub fn cancel(&self) {
        self.cancel.cancel();
    }
}

/// Nobody is left to wait for it.
impl Drop for DnsQuestion {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// The source address that the system would use towards an address literal; null: no route leads
/// there, or it is none. Sends nothing.
#[napi]
pub fn source_address_for(destination: String) -> Option<String> {
    let destination: IpAddr = destination.parse().ok()?;
    dns::source_for(destination).map(|source| source.to_string())
}

impl DnsAnswer {
    fn failed(why: impl ToString) -> Self {
        Self::Failed {
            message: why.to_string(),
        }
    }
}

impl From<std::result::Result<dns::Answer, dns::Failure>> for DnsAnswer {
    fn from(answer: std::result::Result<dns::Answer, dns::Failure>) -> Self {
        match answer {
            Ok(dns::Answer::Addresses(answer)) => Self::Addresses {
                left_out: count(answer.left_out),
                addresses: answer
                    .records
                    .into_iter()
                    .map(|record| DnsAddress {
                        address: record.address.to_string(),
                        ttl_seconds: seconds(record.ttl),
                    })
                    .collect(),
            },
            Ok(dns::Answer::Services(answer)) => Self::Services {
                left_out: count(answer.left_out),
                services: answer.records.into_iter().map(DnsService::from).collect(),
            },
            Err(failure @ dns::Failure::GivenByHosts) => Self::Unasked {
                message: failure.to_string(),
            },
            Err(failure) => Self::failed(failure),
        }
    }
}

impl From<dns::ServiceRecord> for DnsService {
    fn from(service: dns::ServiceRecord) -> Self {
        Self {
            owner: service.owner,
            priority: service.priority.into(),
            target: service.target,
            alpn: service.alpn,
            no_default_alpn: service.no_default_alpn,
            port: service.port.map(u32::from),
            ipv4_hints: texts(&service.ipv4_hints),
            ipv6_hints: texts(&service.ipv6_hints),
            ech: service.ech,
            incompatible: service.incompatible,
            ttl_seconds: seconds(service.ttl),
        }
    }
}

fn count(records: usize) -> u32 {
    records.try_into().unwrap_or(u32::MAX)
}

/// As DNS counts time.
fn seconds(ttl: Duration) -> u32 {
    ttl.as_secs().try_into().unwrap_or(u32::MAX)
}

fn texts<T: ToString>(values: &[T]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

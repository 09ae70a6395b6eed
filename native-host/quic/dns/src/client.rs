//! The stub resolver: queries the system's servers or the caller's one, without a cache.

use std::net::SocketAddr;

use hickory_resolver::config::{
    NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts, ServerOrderingStrategy,
};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::{Query, ResponseCode};
use hickory_resolver::proto::rr::Name;
use hickory_resolver::system_conf::read_system_conf;
use hickory_resolver::{Hosts, Resolver};

use crate::answer::Answer;
use crate::failure::Failure;
use crate::question::{Kind, Question};
use crate::socket::ConnectedRuntime;

/// Asks questions without remembering anything between them; dropping an answer's future ends the question.
pub struct Client {
    resolver: Resolver<ConnectedRuntime>,
    hosts: Hosts,
    /// Appended in turn to hosts without a dot.
    search: Vec<Name>,
}

impl Client {
    /// A client with the system's current configuration (on Unix `/etc/resolv.conf` and `/etc/hosts`).
    pub fn system() -> Result<Self, ConfigError> {
        let (mut config, options) = read_system_conf().map_err(ConfigError::System)?;
        let search = config
            .domain
            .take()
            .into_iter()
            .chain(config.search.drain(..));
        let search = search.collect();
        let hosts = Hosts::from_system().unwrap_or_default();
        Self::build(config, options, hosts, search)
    }

    /// A client of one server, queried over UDP, and over TCP if the answer is truncated.
    pub fn of_server(server: SocketAddr) -> Result<Self, ConfigError> {
        let mut name_server = NameServerConfig::udp_and_tcp(server.ip());
        for connection in &mut name_server.connections {
            connection.port = server.port();
        }
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![name_server]);
        Self::build(
            config,
            ResolverOpts::default(),
            Hosts::default(),
            Vec::new(),
        )
    }

    fn build(
        config: ResolverConfig,
        mut options: ResolverOpts,
        hosts: Hosts,
        search: Vec<Name>,
    ) -> Result<Self, ConfigError> {
        // A trial is cold.
        options.cache_size = 0;
        // Handled before the resolver, because a name in the hosts file is not queried at all.
        options.use_hosts_file = ResolveHosts::Never;
        // One after the other in the user's order, like the system's own resolver.
        options.num_concurrent_reqs = 1;
        options.server_ordering_strategy = ServerOrderingStrategy::UserProvidedOrder;
        // Needed to know the owner of each record in the answer.
        options.preserve_intermediates = true;
        let resolver = Resolver::builder_with_config(config, ConnectedRuntime::default())
            .with_options(options)
            .build()
            .map_err(ConfigError::Resolver)?;
        Ok(Self {
            resolver,
            hosts,
            search,
        })
    }

    /// The answer, within the question's time-out.
    pub async fn ask(&self, question: &Question) -> Result<Answer, Failure> {
        if let Some(answer) = self.in_hosts(question) {
            return answer;
        }
        match tokio::time::timeout(question.timeout, self.resolve(question)).await {
            Ok(Ok(lookup)) => Answer::positive(question.kind, &lookup),
            Ok(Err(error)) => match Failure::from_resolver(error) {
                None => Ok(Answer::negative(question.kind)),
                Some(failure) => Err(failure),
            },
            Err(_) => Err(Failure::TimedOut(question.timeout)),
        }
    }

    /// A host without a dot is that of the first search domain in which it exists, with records of this type or without:
    /// otherwise A, AAAA and HTTPS records could be those of different hosts.
    async fn resolve(&self, question: &Question) -> Result<Lookup, NetError> {
        let host = question.host();
        if !question.name.is_fqdn() && !host.is_localhost() {
            for domain in &self.search {
                let (Ok(name), Ok(host)) = (
                    question.name.clone().append_domain(domain),
                    host.clone().append_domain(domain),
                ) else {
                    // Too long a name, which nothing can have.
                    continue;
                };
                let is_prefixed = name != host;
                let found = self.lookup(host, question.kind).await;
                if does_not_exist(&found) {
                    continue;
                }
                // A name with a prefix need not exist where its host does.
                return if is_prefixed {
                    self.lookup(name, question.kind).await
                } else {
                    found
                };
            }
        }
        let mut name = question.name.clone();
        name.set_fqdn(true);
        self.lookup(name, question.kind).await
    }

    async fn lookup(&self, name: Name, kind: Kind) -> Result<Lookup, NetError> {
        self.resolver.lookup(name, kind.record_type()).await
    }

    /// The answer of the hosts file: a name in it has those addresses and no others, and what DNS says of it is unknown.
    fn in_hosts(&self, question: &Question) -> Option<Result<Answer, Failure>> {
        let host = question.host();
        let find = |kind: Kind| {
            let query = Query::query(host.clone(), kind.record_type());
            let lookup = self.hosts.lookup_static_host(&query)?;
            Some(Answer::positive(kind, &lookup))
        };
        let (a, aaaa) = (find(Kind::A), find(Kind::Aaaa));
        if a.is_none() && aaaa.is_none() {
            return None;
        }
        let own = match question.kind {
            Kind::A => a,
            Kind::Aaaa => aaaa,
            Kind::Https => return Some(Err(Failure::GivenByHosts)),
        };
        Some(own.unwrap_or_else(|| Ok(Answer::negative(question.kind))))
    }
}

/// NXDOMAIN: there are no records of any type at that name (RFC 2308 section 1).
fn does_not_exist(found: &Result<Lookup, NetError>) -> bool {
    matches!(
        found,
        Err(NetError::Dns(DnsError::NoRecordsFound(none))) if none.response_code == ResponseCode::NXDomain
    )
}

/// There is no usable configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    #[error("the system's DNS configuration cannot be used: {0}")]
    System(NetError),
    #[error(transparent)]
    Resolver(NetError),
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::Ipv4Addr;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use hickory_resolver::proto::op::Message;
    use hickory_resolver::proto::rr::rdata::A;
    use hickory_resolver::proto::rr::{RData, Record, RecordType};
    use tokio::net::UdpSocket;

    use super::*;

    /// A server of these names, each with an address and nothing else, and what it was asked.
    async fn server_of(
        names: &'static [&'static str],
    ) -> io::Result<(SocketAddr, Arc<Mutex<Vec<String>>>)> {
        let socket = UdpSocket::bind("127.0.0.1:0").await?;
        let address = socket.local_addr()?;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        tokio::spawn(async move {
            let mut buffer = [0; 512];
            while let Ok((length, peer)) = socket.recv_from(&mut buffer).await {
                let query = Message::from_vec(&buffer[..length]).expect("a query");
                let question = query.queries[0].clone();
                let name = question.name().to_ascii();
                let mut reply = Message::response(query.id, query.op_code);
                if !names.contains(&name.as_str()) {
                    reply.metadata.response_code = ResponseCode::NXDomain;
                } else if question.query_type() == RecordType::A {
                    let address = RData::A(A(Ipv4Addr::new(192, 0, 2, 1)));
                    reply.add_answer(Record::from_rdata(question.name().clone(), 60, address));
                }
                log.lock()
                    .expect("lock")
                    .push(format!("{name} {}", question.query_type()));
                reply.add_query(question);
                let bytes = reply.to_vec().expect("a message");
                let _ = socket.send_to(&bytes, peer).await;
            }
        });
        Ok((address, asked))
    }

    #[tokio::test]
    async fn a_name_without_a_dot_is_one_host_for_every_type() {
        let (server, asked) =
            server_of(&["wiki.b.test.", "wiki.c.test.", "_8443._https.wiki.c.test."])
                .await
                .expect("a server");
        let domains = ["a.test.", "b.test.", "c.test."];
        let client = Client {
            search: domains
                .map(|each| Name::from_ascii(each).expect("a name"))
                .to_vec(),
            ..Client::of_server(server).expect("a client")
        };
        let ask = async |name, kind| {
            let question = Question::new(name, kind, Duration::from_secs(60)).expect("a name");
            let answer = client.ask(&question).await.expect("an answer");
            let asked = std::mem::take(&mut *asked.lock().expect("lock"));
            (asked, answer)
        };
        let (seen, answer) = ask("wiki", Kind::A).await;
        assert_eq!(seen, ["wiki.a.test. A", "wiki.b.test. A"]);
        assert!(matches!(answer, Answer::Addresses(found) if found.records.len() == 1));
        // It exists there, so that it has no such record, whatever another host of that name has.
        let (seen, _) = ask("wiki", Kind::Aaaa).await;
        assert_eq!(seen, ["wiki.a.test. AAAA", "wiki.b.test. AAAA"]);
        let (seen, _) = ask("_8443._https.wiki", Kind::Https).await;
        assert_eq!(
            seen,
            [
                "wiki.a.test. HTTPS",
                "wiki.b.test. HTTPS",
                "_8443._https.wiki.b.test. HTTPS"
            ]
        );
        let (seen, _) = ask("intranet", Kind::A).await;
        assert_eq!(
            seen,
            [
                "intranet.a.test. A",
                "intranet.b.test. A",
                "intranet.c.test. A",
                "intranet. A"
            ]
        );
        let (seen, _) = ask("wiki.other", Kind::A).await;
        assert_eq!(seen, ["wiki.other. A"]);
    }

    #[tokio::test]
    async fn what_dns_says_of_a_name_in_the_hosts_file_is_unknown() -> Result<(), ConfigError> {
        let mut hosts = Hosts::default();
        hosts
            .read_hosts_conf(&b"192.0.2.1 a.test\n"[..])
            .expect("a line of a hosts file");
        let client = Client {
            hosts,
            ..Client::of_server(SocketAddr::from(([127, 0, 0, 1], 9)))?
        };
        let ask_of = async |name, kind| {
            let question = Question::new(name, kind, Duration::from_secs(3));
            client.ask(&question.expect("a name")).await
        };
        let ask = async |kind| ask_of("a.test", kind).await;
        assert!(
            matches!(ask(Kind::A).await, Ok(Answer::Addresses(found)) if found.records.len() == 1)
        );
        assert!(
            matches!(ask(Kind::Aaaa).await, Ok(Answer::Addresses(found)) if found.records.is_empty())
        );
        assert!(matches!(ask(Kind::Https).await, Err(Failure::GivenByHosts)));
        assert!(matches!(
            ask_of("_8443._https.a.test", Kind::Https).await,
            Err(Failure::GivenByHosts)
        ));
        Ok(())
    }
}

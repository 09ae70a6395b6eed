//! The stub resolver: queries the system's servers or the caller's one, without a cache.

use std::net::SocketAddr;

use hickory_resolver::config::{
    NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts, ServerOrderingStrategy,
};
use hickory_resolver::net::NetError;
use hickory_resolver::proto::op::Query;
use hickory_resolver::{Hosts, Resolver, ResolverBuilder};

use crate::answer::Answer;
use crate::failure::Failure;
use crate::question::{Kind, Question};
use crate::socket::ConnectedRuntime;

/// Asks questions without remembering anything between them; dropping an answer's future ends the question.
pub struct Client {
    resolver: Resolver<ConnectedRuntime>,
    hosts: Hosts,
}

impl Client {
    /// A client with the system's current configuration (on Unix `/etc/resolv.conf` and `/etc/hosts`).
    pub fn system() -> Result<Self, ConfigError> {
        let builder =
            Resolver::builder(ConnectedRuntime::default()).map_err(ConfigError::System)?;
        Self::build(builder, Hosts::from_system().unwrap_or_default())
    }

    /// A client of one server, queried over UDP, and over TCP if the answer is truncated.
    pub fn of_server(server: SocketAddr) -> Result<Self, ConfigError> {
        let mut name_server = NameServerConfig::udp_and_tcp(server.ip());
        for connection in &mut name_server.connections {
            connection.port = server.port();
        }
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![name_server]);
        let mut builder = Resolver::builder_with_config(config, ConnectedRuntime::default());
        *builder.options_mut() = ResolverOpts::default();
        Self::build(builder, Hosts::default())
    }

    fn build(
        mut builder: ResolverBuilder<ConnectedRuntime>,
        hosts: Hosts,
    ) -> Result<Self, ConfigError> {
        let options = builder.options_mut();
        // A trial is cold.
        options.cache_size = 0;
        // Handled before the resolver, because a name in the hosts file is not queried at all.
        options.use_hosts_file = ResolveHosts::Never;
        // One after the other in the user's order, like the system's own resolver.
        options.num_concurrent_reqs = 1;
        options.server_ordering_strategy = ServerOrderingStrategy::UserProvidedOrder;
        // Needed to know the owner of each record in the answer.
        options.preserve_intermediates = true;
        let resolver = builder.build().map_err(ConfigError::Resolver)?;
        Ok(Self { resolver, hosts })
    }

    /// The answer, within the question's time-out.
    pub async fn ask(&self, question: &Question) -> Result<Answer, Failure> {
        if let Some(answer) = self.in_hosts(question) {
            return answer;
        }
        let lookup = self
            .resolver
            .lookup(question.name.clone(), question.kind.record_type());
        match tokio::time::timeout(question.timeout, lookup).await {
            Ok(Ok(lookup)) => Answer::positive(question.kind, &lookup),
            Ok(Err(error)) => match Failure::from_resolver(error) {
                None => Ok(Answer::negative(question.kind)),
                Some(failure) => Err(failure),
            },
            Err(_) => Err(Failure::TimedOut(question.timeout)),
        }
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
    use std::time::Duration;

    use super::*;

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

//! The load generator: requests on an open schedule, each on its own connection, which a race or the
//! outcome of an earlier one has chosen.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use fastrand::Rng;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_rustls::TlsConnector;

use crate::race::{NoCandidate, Rule, race};
use crate::schedule::{Draw, Draws, exponential_moments};
use crate::summary::{Context, Ended, Success, Summary, code_of, summarise};
use crate::tls::{self, TlsSettings};
use crate::transport::{Candidate, Connection, Dialler, ENCAPSULATION_PORT};
use crate::{Failure, http};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoadSettings {
    /// Ways to a server, taken in turn; each lists the candidates that race on it.
    paths: Vec<Vec<Candidate>>,
    port: u16,
    /// Null: without TLS.
    tls: Option<TlsSettings>,
    #[serde(default = "by_establishment")]
    rule: Rule,
    #[serde(default = "http")]
    exchange: Exchange,
    object_bytes: usize,
    per_second: f64,
    duration_ms: u64,
    /// The share of requests for which the outcome of a race is cached.
    #[serde(default)]
    hit_share: f64,
    #[serde(default = "timeout_ms")]
    timeout_ms: u64,
    seed: u64,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Exchange {
    Http,
    /// The server returns what it gets.
    Echo,
}

const fn by_establishment() -> Rule {
    Rule::Established
}

const fn http() -> Exchange {
    Exchange::Http
}

const fn timeout_ms() -> u64 {
    5000
}

/// For connections that are being closed when the last request has ended.
const DRAIN: Duration = Duration::from_secs(1);

/// What all requests share.
struct Client {
    dialler: Rc<Dialler>,
    connector: Option<TlsConnector>,
    settings: LoadSettings,
    /// By path.
    cache: RefCell<Vec<Option<Candidate>>>,
}

enum Broken {
    Io(io::Error),
    Tls,
    NoCandidate,
}

impl Broken {
    fn code(&self) -> &'static str {
        match self {
            Self::Io(error) => code_of(error),
            Self::Tls => "tls",
            Self::NoCandidate => "no-candidate",
        }
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<NoCandidate> for Broken {
    fn from(NoCandidate: NoCandidate) -> Self {
        Self::NoCandidate
    }
}

/// Makes all requests and waits for the last of them.
pub async fn load(settings: LoadSettings) -> Result<Summary, Failure> {
    let client = Rc::new(Client::new(settings).await?);
    let learning = client.learn().await;
    let LoadSettings {
        seed,
        hit_share,
        per_second,
        duration_ms,
        ..
    } = client.settings;
    let duration = Duration::from_millis(duration_ms);
    let mut random = Rng::with_seed(seed);
    let moments = exponential_moments(per_second, duration, &mut random);
    let scheduled = moments.len();
    let mut draws = Draws::new(client.settings.paths.len(), hit_share, random);
    let mut requests = JoinSet::new();
    let start = Instant::now();
    for moment in moments {
        let scheduled = start + moment;
        sleep_until(scheduled).await;
        let draw = draws.draw();
        requests.spawn_local(Rc::clone(&client).request(scheduled, draw));
    }
    let mut ended = Vec::with_capacity(scheduled);
    while let Some(request) = requests.join_next().await {
        ended.push(request?);
    }
    client.dialler.drain(DRAIN).await;
    let context = Context {
        scheduled,
        duration,
        learning,
        dropped_packets: client.dialler.dropped(),
    };
    Ok(summarise(&ended, context))
}

impl Client {
    async fn new(settings: LoadSettings) -> Result<Self, Failure> {
        let candidates = settings.paths.iter().flatten().copied();
        let dialler = Dialler::open(candidates, settings.port, ENCAPSULATION_PORT).await?;
        let connector = settings.tls.as_ref().map(TlsSettings::connector);
        Ok(Self {
            dialler: Rc::new(dialler),
            connector: connector.transpose()?,
            cache: RefCell::new(vec![None; settings.paths.len()]),
            settings,
        })
    }

    /// Fills the cache, if it is used, by a race on each path; returns their number.
    async fn learn(&self) -> usize {
        if self.settings.hit_share == 0.0 {
            return 0;
        }
        for path in 0..self.settings.paths.len() {
            // A path without a winner has none for the requests either.
            let _ = self
                .exchange(Instant::now(), Draw { path, hit: false })
                .await;
        }
        self.settings.paths.len()
    }

    async fn request(self: Rc<Self>, scheduled: Instant, draw: Draw) -> Ended {
        let late = scheduled.elapsed();
        let outcome = self.exchange(scheduled, draw).await;
        Ended {
            late,
            raced: !draw.hit && self.settings.paths[draw.path].len() > 1,
            outcome: outcome.map_err(|broken| broken.code()),
        }
    }

    /// Times are from the schedule: a busy client must not hide for how long requests waited for it.
    async fn exchange(&self, scheduled: Instant, draw: Draw) -> Result<Success, Broken> {
        let all = async {
            let (winner, connection) = self.connect(draw).await?;
            let established = scheduled.elapsed();
            connection.keep()?;
            match &self.connector {
                None => self.exchange_on(connection).await?,
                Some(connector) => {
                    let secure = tls::handshake(connector, connection).await;
                    self.exchange_on(secure.map_err(|_| Broken::Tls)?).await?;
                }
            }
            Ok(Success {
                winner,
                established,
                done: scheduled.elapsed(),
            })
        };
        let limit = Duration::from_millis(self.settings.timeout_ms);
        let timed_out = |_| Err(io::Error::from(io::ErrorKind::TimedOut).into());
        timeout(limit, all).await.unwrap_or_else(timed_out)
    }

    async fn exchange_on(
        &self,
        mut stream: impl AsyncRead + AsyncWrite + Unpin,
    ) -> Result<(), Broken> {
        let bytes = self.settings.object_bytes;
        match self.settings.exchange {
            Exchange::Http => http::get(&mut stream, tls::HOST, bytes).await?,
            Exchange::Echo => http::echo(&mut stream, bytes).await?,
        }
        Ok(stream.shutdown().await?)
    }

    async fn connect(&self, draw: Draw) -> Result<(Candidate, Connection), Broken> {
        let cached = self.cache.borrow()[draw.path].filter(|_| draw.hit);
        if let Some(winner) = cached {
            return Ok((winner, self.dialler.connect(winner, || ()).await?));
        }
        let candidates = &self.settings.paths[draw.path];
        let (index, connection) = race(self.settings.rule, candidates, |candidate, answered| {
            let (dialler, candidate) = (Rc::clone(&self.dialler), *candidate);
            async move {
                let connected = dialler.connect(candidate, || answered.tell()).await;
                connected.map_err(Broken::from)
            }
        })
        .await?;
        let winner = candidates[index];
        self.cache.borrow_mut()[draw.path] = Some(winner);
        Ok((winner, connection))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use serde_json::json;
    use tokio::net::TcpListener;
    use tokio::task::{LocalSet, spawn_local};

    use super::*;

    #[tokio::test]
    async fn times_of_a_request_that_starts_late_are_from_its_moment() {
        const LATE: Duration = Duration::from_millis(200);
        let local = LocalSet::new();
        let run = local.run_until(async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            let port = listener.local_addr()?.port();
            spawn_local(async move {
                let (stream, _) = listener.accept().await?;
                http::serve(stream).await
            });
            let settings = serde_json::from_value(json!({
                "paths": [[{ "transport": "tcp", "address": Ipv4Addr::LOCALHOST }]],
                "port": port,
                "tls": null,
                "objectBytes": 1024,
                "perSecond": 1,
                "durationMs": 1000,
                "seed": 1,
            }))?;
            let client = Rc::new(Client::new(settings).await?);
            let scheduled = Instant::now() - LATE;
            let draw = Draw {
                path: 0,
                hit: false,
            };
            Ok::<_, Failure>(client.request(scheduled, draw).await)
        });
        let ended = run.await.expect("a request");
        assert!(ended.late >= LATE, "{:?}", ended.late);
        let success = ended.outcome.expect("an answer");
        assert!(
            success.established >= ended.late,
            "{:?}",
            success.established
        );
        assert!(success.done >= success.established, "{:?}", success.done);
    }
}

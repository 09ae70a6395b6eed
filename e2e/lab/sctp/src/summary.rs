//! The one JSON document of a load.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::transport::Candidate;

/// A start this much after its moment no longer follows the schedule: one round trip of P1's link.
const LATE: Duration = Duration::from_millis(20);

/// A request that has ended.
pub struct Ended {
    /// After its moment.
    pub late: Duration,
    pub raced: bool,
    /// Times since its moment.
    pub outcome: Result<Success, &'static str>,
}

pub struct Success {
    pub winner: Candidate,
    /// The connection, without TLS.
    pub established: Duration,
    pub done: Duration,
}

/// Milliseconds; null without any.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Quantiles {
    p10: f64,
    median: f64,
    p90: f64,
    p99: f64,
    max: f64,
}

pub fn quantiles(mut times: Vec<Duration>) -> Option<Quantiles> {
    times.sort();
    // The nearest rank.
    let at = |share: f64| {
        let rank = (share * times.len() as f64).ceil() as usize;
        times
            .get(rank.max(1) - 1)
            .map(|time| time.as_secs_f64() * 1000.0)
    };
    Some(Quantiles {
        p10: at(0.1)?,
        median: at(0.5)?,
        p90: at(0.9)?,
        p99: at(0.99)?,
        max: at(1.0)?,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Wins {
    #[serde(flatten)]
    pub candidate: Candidate,
    pub of_races: usize,
    pub all: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub scheduled: usize,
    pub ended: usize,
    pub ok: usize,
    /// Requests that raced all candidates of their path.
    pub races: usize,
    /// Races before the first request, to fill the cache; counted nowhere else.
    pub learning: usize,
    pub winners: Vec<Wins>,
    /// By code.
    pub failures: BTreeMap<&'static str, usize>,
    pub established_ms: Option<Quantiles>,
    pub done_ms: Option<Quantiles>,
    pub late_ms: Option<Quantiles>,
    /// The generator did not keep to its schedule.
    pub was_late: bool,
    pub offered_per_second: f64,
    pub achieved_per_second: f64,
    /// SCTP packets that the kernel did not take.
    pub dropped_packets: u64,
}

pub struct Context {
    pub scheduled: usize,
    pub duration: Duration,
    pub learning: usize,
    pub dropped_packets: u64,
}

pub fn summarise(ended: &[Ended], context: Context) -> Summary {
    let successes = || ended.iter().filter_map(|one| one.outcome.as_ref().ok());
    let mut wins: BTreeMap<Candidate, Wins> = BTreeMap::new();
    let mut failures = BTreeMap::new();
    for one in ended {
        match &one.outcome {
            Ok(success) => {
                let wins = wins.entry(success.winner).or_insert(Wins {
                    candidate: success.winner,
                    of_races: 0,
                    all: 0,
                });
                wins.all += 1;
                wins.of_races += usize::from(one.raced);
            }
            Err(code) => *failures.entry(*code).or_default() += 1,
        }
    }
    let late: Vec<Duration> = ended.iter().map(|one| one.late).collect();
    let late_ms = quantiles(late);
    let seconds = context.duration.as_secs_f64();
    let ok = successes().count();
    Summary {
        scheduled: context.scheduled,
        ended: ended.len(),
        ok,
        races: ended.iter().filter(|one| one.raced).count(),
        learning: context.learning,
        winners: wins.into_values().collect(),
        failures,
        established_ms: quantiles(successes().map(|one| one.established).collect()),
        done_ms: quantiles(successes().map(|one| one.done).collect()),
        was_late: late_ms
            .as_ref()
            .is_none_or(|late| late.p99 > LATE.as_secs_f64() * 1000.0),
        late_ms,
        offered_per_second: context.scheduled as f64 / seconds,
        achieved_per_second: ok as f64 / seconds,
        dropped_packets: context.dropped_packets,
    }
}

/// The stable code of a failure.
pub fn code_of(error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::ConnectionRefused => "refused",
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => "reset",
        ErrorKind::TimedOut => "timed-out",
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "unreachable",
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => "cut-off",
        ErrorKind::InvalidData => "malformed",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use crate::transport::Transport;

    fn ms(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    #[test]
    fn quantiles_are_of_the_nearest_rank() {
        assert_eq!(quantiles(vec![]), None);
        let got = quantiles((1..=100).rev().map(ms).collect()).expect("some");
        assert_eq!(
            (got.p10, got.median, got.p90, got.p99, got.max),
            (10.0, 50.0, 90.0, 99.0, 100.0)
        );
    }

    #[test]
    fn a_summary_counts_by_winner_and_by_code() {
        let winner = |transport| Candidate {
            transport,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        };
        let ok = |transport, raced| Ended {
            late: ms(1),
            raced,
            outcome: Ok(Success {
                winner: winner(transport),
                established: ms(20),
                done: ms(40),
            }),
        };
        let failed = |code| Ended {
            late: ms(0),
            raced: true,
            outcome: Err(code),
        };
        let all = [
            ok(Transport::Tcp, true),
            ok(Transport::Tcp, false),
            ok(Transport::Sctp, true),
            failed("reset"),
        ];
        let context = Context {
            scheduled: 5,
            duration: ms(2000),
            learning: 1,
            dropped_packets: 0,
        };
        let told = serde_json::to_value(summarise(&all, context)).expect("JSON");
        assert_eq!(told["scheduled"], 5);
        assert_eq!([&told["ended"], &told["ok"], &told["races"]], [4, 3, 3]);
        assert_eq!(told["failures"]["reset"], 1);
        assert_eq!(told["winners"][0]["transport"], "tcp");
        assert_eq!(told["winners"][0]["all"], 2);
        assert_eq!(told["winners"][0]["ofRaces"], 1);
        assert_eq!(told["achievedPerSecond"], 1.5);
        assert_eq!(told["wasLate"], false);
    }

    #[test]
    fn a_generator_that_starts_late_says_so() {
        let late = |late| Ended {
            late,
            raced: false,
            outcome: Err("reset"),
        };
        let context = || Context {
            scheduled: 1,
            duration: ms(1000),
            learning: 0,
            dropped_packets: 0,
        };
        assert!(summarise(&[late(ms(21))], context()).was_late);
        assert!(!summarise(&[late(ms(20))], context()).was_late);
        assert!(summarise(&[], context()).was_late, "not a single start");
    }
}

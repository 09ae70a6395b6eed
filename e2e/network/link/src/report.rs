//! Statistics of one direction since the last report, including its own lateness: a link of unknown
//! accuracy cannot be trusted.

use std::time::Duration;

use serde::Serialize;

/// Lateness is recorded in steps of this size, up to `BUCKETS` of them; the last one holds
/// everything beyond.
const STEP_US: u64 = 10;
const BUCKETS: usize = 2000;

/// Counts of one direction.
pub struct Tally {
    pub lost: u64,
    pub overflowed: u64,
    pub oversized: u64,
    lateness: Vec<u64>,
    latest: Duration,
    shortest: Option<Duration>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            lost: 0,
            overflowed: 0,
            oversized: 0,
            lateness: vec![0; BUCKETS],
            latest: Duration::ZERO,
            shortest: None,
        }
    }
}

/// As `e2e/network/link.ts` describes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectionReport {
    delivered: u64,
    lost: u64,
    overflowed: u64,
    oversized: u64,
    late_us: Option<Lateness>,
    shortest_us: Option<u64>,
}

#[derive(Serialize, Debug, PartialEq)]
struct Lateness {
    median: u64,
    p99: u64,
    max: u64,
}

impl Tally {
    /// Records a packet delivered `late` after it was due and `stay` after it arrived.
    pub fn delivered(&mut self, late: Duration, stay: Duration) {
        let step = micros(late) / STEP_US;
        let bucket = usize::try_from(step).unwrap_or(BUCKETS).min(BUCKETS - 1);
        self.lateness[bucket] += 1;
        self.latest = self.latest.max(late);
        self.shortest = Some(self.shortest.map_or(stay, |shortest| shortest.min(stay)));
    }

    pub fn report(&self) -> DirectionReport {
        let delivered = self.lateness.iter().sum();
        DirectionReport {
            delivered,
            lost: self.lost,
            overflowed: self.overflowed,
            oversized: self.oversized,
            late_us: (delivered > 0).then(|| Lateness {
                median: self.late_by_rank(delivered.div_ceil(2)),
                p99: self.late_by_rank((delivered * 99).div_ceil(100)),
                max: micros(self.latest),
            }),
            shortest_us: self.shortest.map(micros),
        }
    }

    /// The upper end of the step that contains the packet of that rank.
    fn late_by_rank(&self, rank: u64) -> u64 {
        let mut seen = 0;
        let full = self.lateness.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        let steps = full.map_or(BUCKETS, |bucket| bucket + 1);
        (steps as u64 * STEP_US).min(micros(self.latest))
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_delivered_is_no_lateness() {
        let report = Tally::default().report();
        assert_eq!(report.delivered, 0);
        assert!(report.late_us.is_none() && report.shortest_us.is_none());
    }

    #[test]
    fn ranks_are_nearest_and_the_maximum_is_exact() {
        let mut tally = Tally::default();
        for late in 1..=100 {
            let late = Duration::from_micros(late * 10 - 1);
            tally.delivered(late, Duration::from_millis(25) + late);
        }
        tally.delivered(Duration::from_secs(1), Duration::from_secs(2));
        let report = tally.report();
        let expected = Lateness {
            median: 510,
            p99: 1000,
            max: 1_000_000,
        };
        assert_eq!(report.late_us, Some(expected));
        assert_eq!(report.shortest_us, Some(25_009));
        assert_eq!(report.delivered, 101);
    }
}

//! How long to sleep before a packet is due: sleeping threads wake late, so the last stretch is a
//! busy wait, within a limit on the share of a core it may use.

use std::time::{Duration, Instant};

/// The last stretch before a packet is due: the wake-up latency on an idle machine.
const LEAD: Duration = Duration::from_micros(100);
/// The share of elapsed time that may be spent in busy waits.
const ALLOWANCE: f64 = 0.1;
/// The largest allowance that accumulates: enough for the packets of a handshake, however close.
const SAVINGS: Duration = Duration::from_millis(5);

/// One direction's allowance for busy waits.
pub struct BusyWait {
    saved: Duration,
    /// When it was last asked, and whether it then said to stay awake.
    last: Instant,
    awake: bool,
}

impl BusyWait {
    pub fn new(now: Instant) -> Self {
        Self {
            saved: SAVINGS,
            last: now,
            awake: false,
        }
    }

    /// How long to sleep if the next packet is due then: until shortly before it, or, with no
    /// allowance left, until it is due. Without a packet, indefinitely.
    pub fn sleep(&mut self, due: Option<Instant>, now: Instant) -> Option<Duration> {
        let passed = now.saturating_duration_since(self.last);
        if self.awake {
            self.saved = self.saved.saturating_sub(passed);
        }
        self.saved = (self.saved + passed.mul_f64(ALLOWANCE)).min(SAVINGS);
        let lead = LEAD.min(self.saved);
        let sleep = due.map(|due| due.saturating_duration_since(now).saturating_sub(lead));
        self.last = now;
        self.awake = sleep.is_some_and(|sleep| sleep.is_zero());
        sleep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    /// Waits for packets that come evenly, sleeping exactly; gives the share of time spent awake.
    fn awake_share(gap: Duration, packets: u32) -> f64 {
        let start = Instant::now();
        let mut busy_wait = BusyWait::new(start);
        let (mut now, mut awake) = (start, Duration::ZERO);
        for packet in 1..=packets {
            let due = start + gap * packet;
            while now < due {
                let sleep = busy_wait.sleep(Some(due), now).expect("there is a packet");
                assert!(now + sleep <= due, "it would sleep past what is due");
                let step = if sleep.is_zero() { us(1) } else { sleep };
                awake += if sleep.is_zero() { step } else { us(0) };
                now += step;
            }
        }
        awake.as_secs_f64() / (now - start).as_secs_f64()
    }

    #[test]
    fn a_packet_now_and_then_is_awaited_awake() {
        let start = Instant::now();
        let mut busy_wait = BusyWait::new(start);
        let due = start + us(25_000);
        assert_eq!(busy_wait.sleep(Some(due), start), Some(us(24_900)));
        assert_eq!(busy_wait.sleep(Some(due), start + us(24_900)), Some(us(0)));
        assert_eq!(busy_wait.sleep(Some(due), start + us(24_999)), Some(us(0)));
    }

    #[test]
    fn without_packets_nothing_is_spent() {
        let start = Instant::now();
        let mut busy_wait = BusyWait::new(start);
        // Leaves little: what the next stretch would cost more than.
        assert_eq!(busy_wait.sleep(Some(start), start), Some(us(0)));
        assert_eq!(busy_wait.sleep(None, start + us(5_500)), None);
        let later = start + us(6_400);
        let due = later + us(1_000);
        assert_eq!(busy_wait.sleep(Some(due), later), Some(us(900)));
    }

    #[test]
    fn what_is_overdue_is_not_slept_on() {
        let start = Instant::now();
        let mut busy_wait = BusyWait::new(start);
        assert_eq!(busy_wait.sleep(Some(start), start + us(5)), Some(us(0)));
    }

    #[test]
    fn thousands_of_packets_a_second_do_not_cost_a_core() {
        let share = awake_share(us(200), 50_000);
        assert!((0.05..0.11).contains(&share), "{share}");
    }
}

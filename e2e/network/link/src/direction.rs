//! One direction of the link without I/O: packets arrive at a given time, and become due at a time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::loss::Losses;
use crate::packet::carried;
use crate::report::{DirectionReport, Tally};
use crate::shape::Shape;

/// A packet on its way.
pub struct QueuedPacket {
    pub packet: Vec<u8>,
    arrived: Instant,
    due: Instant,
}

/// Packets in flight, in order of arrival and delivery.
type Queue = VecDeque<QueuedPacket>;

/// One direction.
pub struct Direction {
    shape: Shape,
    losses: Losses,
    random: Rng,
    underway: Queue,
    /// Packets that the shape sets apart; neither queue waits for the other.
    apart: Queue,
    /// When the transmission of each queued or transmitting packet will end.
    sending: VecDeque<Instant>,
    tally: Tally,
}

impl Direction {
    /// A bare cable; the seed determines losses and delay variation.
    pub fn new(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        Self {
            shape: Shape::default(),
            losses: Losses::new(random.fork()),
            random,
            underway: Queue::new(),
            apart: Queue::new(),
            sending: VecDeque::new(),
            tally: Tally::default(),
        }
    }

    /// Packets already in flight are unaffected.
    pub fn reshape(&mut self, shape: Shape) {
        self.shape = shape;
    }

    /// Accepts a packet, or loses it.
    pub fn arrive(&mut self, packet: &[u8], now: Instant) {
        let longest = self.shape.max_packet_bytes;
        if longest.is_some_and(|longest| packet.len() > longest) {
            self.tally.oversized += 1;
            return;
        }
        if self.losses.next_is_lost(&self.shape.loss) {
            self.tally.lost += 1;
            return;
        }
        let Some(sent) = self.send(packet.len(), now) else {
            self.tally.overflowed += 1;
            return;
        };
        let jitter = self.shape.jitter.mul_f64(self.random.f64());
        let due = sent + self.shape.delay + jitter;
        let kind = self.shape.apart.zip(carried(packet));
        let (queue, due) = match kind {
            Some((apart, kind)) if apart.holds(kind) => (&mut self.apart, due + apart.delay),
            _ => (&mut self.underway, due),
        };
        // Packets are never reordered within a queue, whatever the jitter and changes of delay.
        let due = queue.back().map_or(due, |last| last.due.max(due));
        queue.push_back(QueuedPacket {
            packet: packet.to_vec(),
            arrived: now,
            due,
        });
    }

    /// When the packet will have been transmitted at the link's rate; `None` if the queue is full.
    fn send(&mut self, bytes: usize, now: Instant) -> Option<Instant> {
        while self.sending.front().is_some_and(|end| *end <= now) {
            self.sending.pop_front();
        }
        let Some(rate) = self.shape.bytes_per_second else {
            return Some(now);
        };
        if self.sending.len() >= self.shape.queue_packets {
            return None;
        }
        let begin = self.sending.back().copied().unwrap_or(now);
        let end = begin + Duration::from_secs_f64(bytes as f64 / rate);
        self.sending.push_back(end);
        Some(end)
    }

    /// When the next packet is due.
    pub fn next_due(&self) -> Option<Instant> {
        let fronts = [self.underway.front(), self.apart.front()];
        fronts.into_iter().flatten().map(|front| front.due).min()
    }

    /// A packet that is due; counted as delivered now.
    pub fn deliver(&mut self, now: Instant) -> Option<QueuedPacket> {
        let due = self.next_due().filter(|due| *due <= now)?;
        let is_first = |queue: &Queue| queue.front().is_some_and(|front| front.due == due);
        let queue = if is_first(&self.underway) {
            &mut self.underway
        } else {
            &mut self.apart
        };
        let queued = queue.pop_front()?;
        self.tally.delivered(now - queued.due, now - queued.arrived);
        Some(queued)
    }

    /// How many packets have arrived and are neither delivered nor lost.
    pub fn waiting(&self) -> usize {
        self.underway.len() + self.apart.len()
    }

    /// Statistics since the last report.
    pub fn report(&mut self) -> DirectionReport {
        std::mem::take(&mut self.tally).report()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direction(json: &str) -> Direction {
        let mut direction = Direction::new(1);
        direction.reshape(serde_json::from_str(json).expect("a shape"));
        direction
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_packet_is_due_after_the_delay_and_not_before() {
        let (mut direction, start) = (direction(r#"{"delayMs": 25}"#), Instant::now());
        direction.arrive(b"first", start);
        assert_eq!(direction.next_due(), Some(start + ms(25)));
        assert!(direction.deliver(start + ms(24)).is_none());
        assert_eq!(direction.waiting(), 1);
        let queued = direction.deliver(start + ms(25)).expect("it is due");
        assert_eq!(queued.packet, b"first");
        assert!(direction.next_due().is_none());
        assert_eq!(direction.waiting(), 0);
    }

    #[test]
    fn a_rate_spaces_packets_and_a_full_queue_loses_them() {
        // 1000 bytes take 1 ms.
        let mut direction = direction(r#"{"rateMbps": 8, "queuePackets": 2, "delayMs": 5}"#);
        let start = Instant::now();
        for _ in 0..3 {
            direction.arrive(&[0; 1000], start);
        }
        direction.arrive(&[0; 1000], start + ms(1));
        let mut due = Vec::new();
        while let Some(at) = direction.next_due() {
            due.push(at - start);
            direction.deliver(at);
        }
        assert_eq!(due, [ms(6), ms(7), ms(8)]);
        let report = serde_json::to_value(direction.report()).expect("a report");
        assert_eq!(
            (&report["delivered"], &report["overflowed"]),
            (&3.into(), &1.into())
        );
    }

    #[test]
    fn jitter_only_adds_and_nothing_overtakes() {
        let mut direction = direction(r#"{"delayMs": 10, "jitterMs": 10}"#);
        let start = Instant::now();
        for index in 0..200 {
            direction.arrive(
                &[index],
                start + Duration::from_micros(u64::from(index) * 50),
            );
        }
        direction.reshape(Shape::default());
        direction.arrive(&[200], start + ms(10));
        let mut last = start;
        for index in 0..=200 {
            let due = direction.next_due().expect("a packet");
            assert!(due >= last);
            last = due;
            let queued = direction.deliver(due).expect("it is due");
            assert_eq!(queued.packet, [index]);
            assert!(index == 200 || due - queued.arrived >= ms(10));
        }
    }

    #[test]
    fn what_is_set_apart_waits_longer_and_holds_nothing_up() {
        let apart = r#"{"delayMs": 10, "apart": {"transport": "tcp", "family": 4, "delayMs": 30}}"#;
        let (mut direction, start) = (direction(apart), Instant::now());
        let packet = |version: u8, at: usize, protocol: u8| {
            let mut packet = vec![0; 20];
            packet[0] = version << 4;
            packet[at] = protocol;
            packet
        };
        let [tcp4, udp4, tcp6] = [packet(4, 9, 6), packet(4, 9, 17), packet(6, 6, 6)];
        for (index, packet) in [&tcp4, &udp4, &tcp4, &tcp6].into_iter().enumerate() {
            direction.arrive(packet, start + ms(index as u64));
        }
        let mut seen = Vec::new();
        while let Some(due) = direction.next_due() {
            assert!(direction.deliver(due - Duration::from_nanos(1)).is_none());
            seen.push((
                due - start,
                direction.deliver(due).expect("it is due").packet,
            ));
        }
        let expected = [
            (ms(11), udp4),
            (ms(13), tcp6),
            (ms(40), tcp4.clone()),
            (ms(42), tcp4),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn nothing_overtakes_among_what_is_set_apart() {
        let mut direction = direction(r#"{"apart": {"transport": "udp", "delayMs": 20}}"#);
        let (start, udp) = (Instant::now(), [0x45, 0, 0, 0, 0, 0, 0, 0, 0, 17]);
        direction.arrive(&udp, start);
        direction.reshape(
            serde_json::from_str(r#"{"apart": {"transport": "udp", "delayMs": 5}}"#)
                .expect("a shape"),
        );
        direction.arrive(&udp, start + ms(1));
        assert!(direction.deliver(start + ms(19)).is_none());
        assert!(direction.deliver(start + ms(20)).is_some());
        assert!(direction.deliver(start + ms(20)).is_some());
    }

    #[test]
    fn what_is_too_long_vanishes() {
        let mut direction = direction(r#"{"maxPacketBytes": 1280}"#);
        let start = Instant::now();
        direction.arrive(&[0; 1281], start);
        assert!(direction.next_due().is_none());
        direction.arrive(&[0; 1280], start);
        assert_eq!(direction.next_due(), Some(start));
    }
}

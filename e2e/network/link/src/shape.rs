//! How one direction treats its packets: parsed from JSON once, typed and range-checked from there
//! on.

use std::time::Duration;

use serde::Deserialize;

use crate::loss::Loss;
use crate::packet::{Family, Transport};

/// Enough for the bandwidth-delay product of any realistic path; also netem's default.
const DEFAULT_QUEUE_PACKETS: usize = 1000;
const BITS_PER_MEGABIT: f64 = 1e6;
const BITS_PER_BYTE: f64 = 8.0;

/// Packets with additional delay, in a separate queue.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(try_from = "ApartJson")]
pub struct Apart {
    transport: Transport,
    /// Both if absent.
    family: Option<Family>,
    /// In addition to the shape's delay.
    pub delay: Duration,
}

impl Apart {
    /// Whether it applies to such a packet.
    pub fn holds(&self, (transport, family): (Transport, Family)) -> bool {
        transport == self.transport && self.family.is_none_or(|wanted| wanted == family)
    }
}

/// One direction of the link.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(try_from = "ShapeJson")]
pub struct Shape {
    pub delay: Duration,
    /// Additional delay, uniform from zero to this.
    pub jitter: Duration,
    pub loss: Loss,
    /// If absent, packets take no time to transmit and never queue.
    pub bytes_per_second: Option<f64>,
    /// How many packets may be queued or in transmission, if there is a rate.
    pub queue_packets: usize,
    /// Longer packets are dropped silently.
    pub max_packet_bytes: Option<usize>,
    pub apart: Option<Apart>,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            loss: Loss::Independent { share: 0.0 },
            bytes_per_second: None,
            queue_packets: DEFAULT_QUEUE_PACKETS,
            max_packet_bytes: None,
            apart: None,
        }
    }
}

/// The JSON representation.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ShapeJson {
    delay_ms: f64,
    jitter_ms: f64,
    loss: Option<Loss>,
    rate_mbps: Option<f64>,
    queue_packets: Option<usize>,
    max_packet_bytes: Option<usize>,
    apart: Option<Apart>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ApartJson {
    transport: Transport,
    family: Option<Family>,
    delay_ms: f64,
}

impl TryFrom<ApartJson> for Apart {
    type Error = String;

    fn try_from(json: ApartJson) -> Result<Self, String> {
        Ok(Apart {
            transport: json.transport,
            family: json.family,
            delay: duration("delayMs", json.delay_ms)?,
        })
    }
}

impl TryFrom<ShapeJson> for Shape {
    type Error = String;

    fn try_from(json: ShapeJson) -> Result<Self, String> {
        let default = Shape::default();
        let rate = json.rate_mbps;
        if rate.is_some_and(|rate| !(rate.is_finite() && rate > 0.0)) {
            return Err("the rate must be above zero".into());
        }
        if json.queue_packets == Some(0) {
            return Err("a queue of no packets lets none pass".into());
        }
        let loss = json.loss.unwrap_or(default.loss);
        loss.check()?;
        Ok(Shape {
            delay: duration("delayMs", json.delay_ms)?,
            jitter: duration("jitterMs", json.jitter_ms)?,
            loss,
            bytes_per_second: rate.map(|rate| rate * BITS_PER_MEGABIT / BITS_PER_BYTE),
            queue_packets: json.queue_packets.unwrap_or(default.queue_packets),
            max_packet_bytes: json.max_packet_bytes,
            apart: json.apart,
        })
    }
}

fn duration(name: &str, ms: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(ms / 1000.0).map_err(|error| format!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_said_is_a_bare_cable() {
        let shape: Shape = serde_json::from_str("{}").expect("a shape");
        assert_eq!(shape, Shape::default());
    }

    #[test]
    fn units_are_those_of_the_names() {
        let json = r#"{"delayMs": 25.5, "jitterMs": 2, "rateMbps": 8, "maxPacketBytes": 1280,
            "loss": {"kind": "independent", "share": 0.3}}"#;
        let shape: Shape = serde_json::from_str(json).expect("a shape");
        assert_eq!(shape.delay, Duration::from_micros(25_500));
        assert_eq!(shape.jitter, Duration::from_millis(2));
        assert_eq!(shape.bytes_per_second, Some(1e6));
        assert_eq!(shape.max_packet_bytes, Some(1280));
        assert_eq!(shape.loss, Loss::Independent { share: 0.3 });
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for json in [
            r#"{"delayMs": -1}"#,
            r#"{"jitterMs": -0.1}"#,
            r#"{"rateMbps": 0}"#,
            r#"{"queuePackets": 0}"#,
            r#"{"delay": 3}"#,
            r#"{"apart": {"transport": "sctp", "delayMs": 1}}"#,
            r#"{"apart": {"transport": "udp", "family": 5, "delayMs": 1}}"#,
            r#"{"apart": {"transport": "udp", "delayMs": -1}}"#,
            r#"{"apart": {"transport": "udp"}}"#,
            r#"{"loss": {"kind": "independent", "share": 1.5}}"#,
            r#"{"loss": {"kind": "bursts", "enter": 0.1, "leave": -1}}"#,
        ] {
            assert!(serde_json::from_str::<Shape>(json).is_err(), "{json}");
        }
    }
}

//! Retransmission timers of SCTP: those of Linux's TCP, so that a comparison of the two is not one of
//! timers.

use std::time::Duration;

use dcsctp::api::Options;
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Timers {
    /// Until the first retransmission of an INIT, a COOKIE ECHO, and of data before a round trip has
    /// been measured.
    pub initial_ms: u64,
    pub max_init_retransmissions: u32,
    /// The least time above the round trip until data are retransmitted.
    pub min_ms: u64,
    pub max_ms: u64,
    /// The longest delay of a SACK.
    pub delayed_ack_ms: u64,
}

impl Default for Timers {
    /// Linux: `TCP_TIMEOUT_INIT`, `tcp_syn_retries`, `TCP_RTO_MIN`, `TCP_RTO_MAX`, `TCP_DELACK_MIN`.
    fn default() -> Self {
        Self {
            initial_ms: 1000,
            max_init_retransmissions: 6,
            min_ms: 200,
            max_ms: 120_000,
            delayed_ack_ms: 40,
        }
    }
}

impl Timers {
    /// For packets of at most `mtu` bytes, without the headers below SCTP.
    pub fn options(&self, mtu: usize) -> Options {
        /// dcsctp takes an eighth of its `min_rtt_variance` and adds it four times to the round trip.
        const VARIANCE_SHARE: u64 = 2;
        let initial = Duration::from_millis(self.initial_ms);
        Options {
            mtu,
            rto_initial: initial,
            t1_init_timeout: initial,
            t1_cookie_timeout: initial,
            t2_shutdown_timeout: initial,
            rto_min: Duration::from_millis(self.min_ms),
            rto_max: Duration::from_millis(self.max_ms),
            min_rtt_variance: Duration::from_millis(VARIANCE_SHARE * self.min_ms),
            delayed_ack_max_timeout: Duration::from_millis(self.delayed_ack_ms),
            max_init_retransmits: Some(self.max_init_retransmissions),
            ..Options::default()
        }
    }
}

//! Two endpoints on a link with delay and loss, in virtual time.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::*;
use crate::timers::Timers;

const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 9899);
const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 9899);
const PORT: u16 = 80;
const DELAY: Duration = Duration::from_millis(10);

struct World {
    now: Duration,
    client: Endpoint,
    server: Endpoint,
    /// Arrival, in order of departure; whether the client gets it.
    wire: Vec<(Duration, bool, Vec<u8>)>,
    /// Numbers of the packets that are lost, counted from 0 over both directions.
    lost: Vec<usize>,
    sent: usize,
}

impl World {
    fn new(lost: &[usize]) -> Self {
        let options = Timers::default().options(1472);
        Self {
            now: Duration::ZERO,
            client: Endpoint::new(options.clone(), vec![]),
            server: Endpoint::new(options, vec![PORT]),
            wire: vec![],
            lost: lost.to_vec(),
            sent: 0,
        }
    }

    fn collect(&mut self) {
        for to_client in [false, true] {
            let sender = if to_client {
                &mut self.server
            } else {
                &mut self.client
            };
            while let Some((_, packet)) = sender.next_outgoing() {
                if !self.lost.contains(&self.sent) {
                    self.wire.push((self.now + DELAY, to_client, packet));
                }
                self.sent += 1;
            }
        }
    }

    /// Runs until `done`, or 30 s have passed; returns when.
    fn run_until(&mut self, done: impl Fn(&mut World) -> bool) -> Option<Duration> {
        loop {
            self.collect();
            if done(self) {
                return Some(self.now);
            }
            let arrival = self.wire.iter().map(|(at, ..)| *at).min();
            let timeouts = [self.client.next_timeout(), self.server.next_timeout()];
            self.now = timeouts.into_iter().flatten().chain(arrival).min()?;
            if self.now > Duration::from_secs(30) {
                return None;
            }
            let (due, rest) = self.wire.drain(..).partition(|(at, ..)| *at <= self.now);
            self.wire = rest;
            for (_, to_client, packet) in due {
                if to_client {
                    self.client.handle(self.now, SERVER, &packet);
                } else {
                    self.server.handle(self.now, CLIENT, &packet);
                }
            }
            self.client.expire(self.now);
            self.server.expire(self.now);
        }
    }

    fn connect(&mut self) -> Key {
        self.client.connect(self.now, SERVER, PORT)
    }
}

fn ms(value: u64) -> Duration {
    Duration::from_millis(value)
}

fn accept(world: &mut World) -> Option<Key> {
    world.server.accept(Waker::noop())
}

#[test]
fn the_answer_takes_one_round_trip_and_the_association_two() {
    let mut world = World::new(&[]);
    let key = world.connect();
    assert_eq!(
        world.run_until(|world| world.client.is_answered(&key)),
        Some(ms(20))
    );
    assert_eq!(
        world.server.associations(),
        0,
        "an INIT leaves nothing behind"
    );
    assert_eq!(
        world.run_until(|world| world.client.is_connected(&key)),
        Some(ms(40))
    );
    assert!(accept(&mut world).is_some());
}

#[test]
fn a_message_arrives_whole_and_a_shutdown_leaves_nothing_behind() {
    let mut world = World::new(&[]);
    let key = world.connect();
    world.run_until(|world| world.client.is_connected(&key));
    let at_server = accept(&mut world).expect("an association");
    let message: Vec<u8> = (0..=255).cycle().take(16_384).collect();
    let now = world.now;
    assert_eq!(
        world.client.write(now, key, &message).expect("sent"),
        message.len()
    );
    world.run_until(|world| !world.wire.iter().any(|(_, to_client, _)| !to_client));
    let got = loop {
        if let Some(got) = world.server.read(&at_server) {
            break got;
        }
        let before = world.now;
        world
            .run_until(|world| world.now > before)
            .expect("goes on");
    };
    assert_eq!(got, message);
    let now = world.now;
    world.client.shutdown(now, key);
    world.client.release(now, key, true);
    world.run_until(|world| world.server.end(&at_server).is_some());
    assert_eq!(world.server.end(&at_server), Some(End::Closed));
    assert_eq!(world.client.associations(), 0);
    let now = world.now;
    world.server.release(now, at_server, false);
    assert_eq!(world.server.associations(), 0);
}

#[test]
fn a_lost_init_is_repeated_after_the_initial_timer() {
    let mut world = World::new(&[0]);
    let key = world.connect();
    assert_eq!(
        world.run_until(|world| world.client.is_connected(&key)),
        Some(ms(1040))
    );
}

#[test]
fn a_lost_message_is_repeated_after_the_least_timer_of_the_kernel_s_tcp() {
    // INIT, INIT ACK, COOKIE ECHO, COOKIE ACK, a message and its SACK, then the lost one.
    let mut world = World::new(&[6]);
    let key = world.connect();
    world.run_until(|world| world.client.is_connected(&key));
    let at_server = accept(&mut world).expect("an association");
    let mut arrivals = vec![];
    for _ in 0..2 {
        let sent_at = world.now;
        world.client.write(sent_at, key, b"hello").expect("sent");
        while world.server.read(&at_server).is_none() {
            let before = world.now;
            world
                .run_until(|world| world.now > before)
                .expect("goes on");
        }
        arrivals.push(world.now - sent_at);
        world.run_until(|world| world.wire.is_empty());
    }
    // As Linux's TCP: the round trip and 200 ms.
    assert_eq!(arrivals, [ms(10), ms(230)]);
}

#[test]
fn a_loser_that_was_given_up_is_aborted_when_its_answer_arrives() {
    let mut world = World::new(&[]);
    let key = world.connect();
    world.client.release(ms(0), key, false);
    assert_eq!(world.client.associations(), 0);
    world.run_until(|_| false);
    // INIT, INIT ACK, ABORT.
    assert_eq!(world.sent, 3);
    assert_eq!(world.server.associations(), 0);
}

#[test]
fn a_loser_that_was_established_is_reset_at_the_server() {
    let mut world = World::new(&[]);
    let key = world.connect();
    world.run_until(|world| world.client.is_connected(&key));
    let at_server = accept(&mut world).expect("an association");
    let now = world.now;
    world.client.release(now, key, false);
    world.run_until(|world| world.server.end(&at_server).is_some());
    assert_eq!(world.server.end(&at_server), Some(End::Reset));
}

#[test]
fn without_an_answer_an_association_times_out() {
    let mut world = World::new(&(0..100).collect::<Vec<_>>());
    let timers = Timers {
        max_init_retransmissions: 2,
        ..Timers::default()
    };
    world.client = Endpoint::new(timers.options(1472), vec![]);
    let key = world.connect();
    // 1 + 1 + 2 s: dcsctp doubles an interval only after it has repeated the first, unlike the
    // kernel's TCP.
    assert_eq!(
        world.run_until(|world| world.client.end(&key).is_some()),
        Some(ms(4000))
    );
    assert_eq!(world.client.end(&key), Some(End::TimedOut));
}

#[test]
fn packets_for_the_ports_of_other_processes_are_not_answered() {
    let mut world = World::new(&[]);
    world.server = Endpoint::new(Timers::default().options(1472), vec![81]);
    world.connect();
    world.collect();
    let (_, _, init) = world.wire.pop().expect("an INIT");
    world.server.handle(ms(10), CLIENT, &init);
    assert_eq!(world.server.next_outgoing(), None);
}

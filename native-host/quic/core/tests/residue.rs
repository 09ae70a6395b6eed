//! A thousand attempts one after the other leave no file descriptor, task or memory behind.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::time::Duration;

use photofinish_quic::{Cancel, connect};
use support::{Authority, options, request, site};

const ATTEMPTS: usize = 1000;
/// Memory that the allocator may retain: far less than a thousand connections would hold.
const TOLERATED_GROWTH_KIB: u64 = 8 * 1024;

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").expect("descriptors").count()
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("status");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .expect("VmRSS");
    line.split_whitespace()
        .nth(1)
        .expect("number")
        .parse()
        .expect("number")
}

#[test]
fn a_thousand_attempts_leave_nothing_behind() {
    // The site has a separate runtime: the counts below are the client's.
    let authority = Authority::new();
    let servers = tokio::runtime::Runtime::new().expect("runtime");
    let address = servers.block_on(async { site(&authority) });
    let client = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("runtime");
    let trust = authority.trust();
    client.block_on(async {
        let run = async |round: usize| {
            let attempt = async {
                let connection =
                    connect(&trust, &options(address), &Cancel::default()).await.expect("handshake");
                if round.is_multiple_of(2) {
                    connection.request(&request("/")).await.expect("response");
                }
            };
            match round % 5 {
                // Dropped somewhere in the middle.
                4 => drop(tokio::time::timeout(Duration::from_millis(round as u64 % 4), attempt).await),
                _ => attempt.await,
            }
        };
        for round in 0..ATTEMPTS / 2 {
            run(round).await;
        }
        let (files, resident) = (settled().await, resident_kib());
        for round in 0..ATTEMPTS / 2 {
            run(round).await;
        }
        assert_eq!(settled().await, files);
        let growth = resident_kib().saturating_sub(resident);
        println!("{ATTEMPTS} attempts: {files} descriptors, resident {resident} KiB, grown by {growth} KiB");
        assert!(growth < TOLERATED_GROWTH_KIB, "grew by {growth} KiB");
    });
}

/// The number of open files once the client runs no other task.
async fn settled() -> usize {
    let metrics = tokio::runtime::Handle::current().metrics();
    while metrics.num_alive_tasks() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    open_files()
}

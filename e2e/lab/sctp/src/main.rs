//! P1's experiment with its own transports: a server over TCP and SCTP, and a client that races them.
//!
//! `photofinish-sctp serve JSON` prints one JSON line when it listens, and exits when its standard
//! input closes. `photofinish-sctp load JSON` makes requests for some seconds and prints one JSON
//! document; `photofinish-sctp trials JSON` makes cold connections one after the other. All use one
//! thread, as an association of dcsctp cannot leave its own.

mod association;
mod carrier;
mod endpoint;
mod http;
mod load;
mod packet;
mod race;
mod schedule;
mod serve;
mod summary;
mod timers;
mod tls;
mod transport;
mod trials;

use std::io;
use std::process::ExitCode;

use tokio::sync::oneshot;
use tokio::task::LocalSet;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

const USAGE: &str = "usage: photofinish-sctp serve|load|trials JSON";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("photofinish-sctp: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let (command, json) = (words.next().ok_or(USAGE)?, words.next().ok_or(USAGE)?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        match command.as_str() {
            "serve" => {
                let ready = serve::serve(serde_json::from_str(&json)?).await?;
                println!("{}", serde_json::to_string(&ready)?);
                end_of_input().await;
            }
            "load" => {
                let summary = load::load(serde_json::from_str(&json)?).await?;
                println!("{}", serde_json::to_string(&summary)?);
            }
            "trials" => {
                let trials = trials::trials(serde_json::from_str(&json)?).await?;
                println!("{}", serde_json::to_string(&trials)?);
            }
            _ => return Err(USAGE.into()),
        }
        Ok(())
    })
}

async fn end_of_input() {
    let (ended, input_ended) = oneshot::channel::<()>();
    // A separate thread: tokio's stdin would block the runtime's shutdown.
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = ended.send(());
    });
    let _ = input_ended.await;
}

//! The link's control protocol: one JSON command per line on standard input, one JSON reply per
//! line on standard output, in order. The link exits when its input closes.

use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::LinkError;
use crate::device::{self, End, carry, lock};
use crate::direction::Direction;
use crate::report::DirectionReport;
use crate::shape::Shape;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    client: End,
    peer: End,
    /// Determines losses and delay variation.
    seed: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Command {
    Shape(Box<Shapes>),
    Report,
    Waiting,
}

/// Omitted directions stay unchanged.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shapes {
    up: Option<Shape>,
    down: Option<Shape>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Reply {
    Done { ok: bool },
    Report { report: LinkReport },
    Waiting { waiting: usize },
    Refused { error: String },
}

#[derive(Serialize)]
struct LinkReport {
    up: DirectionReport,
    down: DirectionReport,
}

struct Directions {
    up: Mutex<Direction>,
    down: Mutex<Direction>,
}

impl Directions {
    /// Consecutive seeds are those of repeated runs, which must not lose in one direction what another lost in the other.
    fn new(seed: u64) -> Self {
        Self {
            up: Mutex::new(Direction::new(seed)),
            down: Mutex::new(Direction::new(!seed)),
        }
    }
}

/// Creates the devices, reports that, and carries packets until standard input closes.
pub fn run() -> Result<(), LinkError> {
    let json = std::env::args().nth(1).ok_or(LinkError::Usage)?;
    let settings: Settings = serde_json::from_str(&json)?;
    let client = Arc::new(device::make(&settings.client)?);
    let peer = Arc::new(device::make(&settings.peer)?);
    let directions = Arc::new(Directions::new(settings.seed));
    // One thread per direction, so that neither waits for the other. They end with the process.
    let (from, to, shared) = (
        Arc::clone(&client),
        Arc::clone(&peer),
        Arc::clone(&directions),
    );
    thread::spawn(move || carry(&from, &to, &shared.up));
    let shared = Arc::clone(&directions);
    thread::spawn(move || carry(&peer, &client, &shared.down));

    let mut output = io::stdout().lock();
    write_reply(&mut output, &Reply::Done { ok: true })?;
    for line in io::stdin().lock().lines() {
        write_reply(&mut output, &execute(&line?, &directions))?;
    }
    Ok(())
}

fn execute(line: &str, directions: &Directions) -> Reply {
    match serde_json::from_str(line) {
        Ok(Command::Shape(shapes)) => {
            if let Some(shape) = shapes.up {
                lock(&directions.up).reshape(shape);
            }
            if let Some(shape) = shapes.down {
                lock(&directions.down).reshape(shape);
            }
            Reply::Done { ok: true }
        }
        Ok(Command::Report) => Reply::Report {
            report: LinkReport {
                up: lock(&directions.up).report(),
                down: lock(&directions.down).report(),
            },
        },
        Ok(Command::Waiting) => Reply::Waiting {
            waiting: lock(&directions.up).waiting() + lock(&directions.down).waiting(),
        },
        Err(error) => Reply::Refused {
            error: error.to_string(),
        },
    }
}

fn write_reply(output: &mut impl Write, reply: &Reply) -> Result<(), LinkError> {
    serde_json::to_writer(&mut *output, reply)?;
    output.write_all(b"\n")?;
    Ok(output.flush()?)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Instant;

    use super::*;

    #[test]
    fn no_direction_repeats_the_losses_of_another_run() {
        let losses = |direction: &Mutex<Direction>| -> Vec<usize> {
            let mut direction = lock(direction);
            let shape = r#"{"loss": {"kind": "independent", "share": 0.5}}"#;
            direction.reshape(serde_json::from_str(shape).expect("a shape"));
            let mut arrive = || {
                direction.arrive(&[0], Instant::now());
                direction.waiting()
            };
            (0..64).map(|_| arrive()).collect()
        };
        let seeds = 1..=100;
        let all: HashSet<_> = seeds
            .clone()
            .map(Directions::new)
            .flat_map(|Directions { up, down }| [losses(&up), losses(&down)])
            .collect();
        assert_eq!(all.len(), 2 * seeds.count());
    }
}

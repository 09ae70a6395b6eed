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

/// Creates the devices, reports that, and carries packets until standard input closes.
pub fn run() -> Result<(), LinkError> {
    let json = std::env::args().nth(1).ok_or(LinkError::Usage)?;
    let settings: Settings = serde_json::from_str(&json)?;
    let client = Arc::new(device::make(&settings.client)?);
    let peer = Arc::new(device::make(&settings.peer)?);
    let directions = Arc::new(Directions {
        up: Mutex::new(Direction::new(settings.seed)),
        down: Mutex::new(Direction::new(settings.seed.wrapping_add(1))),
    });
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

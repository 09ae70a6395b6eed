//! The link's control line: a JSON command a line on standard input, a JSON reply a line on
//! standard output, in order. The link ends with its input.

use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::carry::{carry, lock};
use crate::device::{self, End};
use crate::lane::Lane;
use crate::report::DirectionReport;
use crate::shape::Shape;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    client: End,
    peer: End,
    /// Decides what is lost and how delays vary.
    seed: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Command {
    Shape(Box<Shapes>),
    Report,
}

/// What is left out stays as it is.
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
    Refused { error: String },
}

#[derive(Serialize)]
struct LinkReport {
    up: DirectionReport,
    down: DirectionReport,
}

struct Lanes {
    up: Mutex<Lane>,
    down: Mutex<Lane>,
}

/// Makes the devices, says so, and carries packets until standard input ends.
pub fn run() -> Result<(), Failure> {
    let json = std::env::args()
        .nth(1)
        .ok_or("usage: photofinish-link JSON")?;
    let settings: Settings = serde_json::from_str(&json)?;
    let client = Arc::new(device::make(&settings.client)?);
    let peer = Arc::new(device::make(&settings.peer)?);
    let lanes = Arc::new(Lanes {
        up: Mutex::new(Lane::new(settings.seed)),
        down: Mutex::new(Lane::new(settings.seed.wrapping_add(1))),
    });
    // A thread each: neither direction waits for the other. They end with the process.
    let (from, to, shared) = (Arc::clone(&client), Arc::clone(&peer), Arc::clone(&lanes));
    thread::spawn(move || carry(&from, &to, &shared.up));
    let shared = Arc::clone(&lanes);
    thread::spawn(move || carry(&peer, &client, &shared.down));

    let mut output = io::stdout().lock();
    say(&mut output, &Reply::Done { ok: true })?;
    for line in io::stdin().lock().lines() {
        say(&mut output, &obey(&line?, &lanes))?;
    }
    Ok(())
}

fn obey(line: &str, lanes: &Lanes) -> Reply {
    match serde_json::from_str(line) {
        Ok(Command::Shape(shapes)) => {
            if let Some(shape) = shapes.up {
                lock(&lanes.up).reshape(shape);
            }
            if let Some(shape) = shapes.down {
                lock(&lanes.down).reshape(shape);
            }
            Reply::Done { ok: true }
        }
        Ok(Command::Report) => Reply::Report {
            report: LinkReport {
                up: lock(&lanes.up).report(),
                down: lock(&lanes.down).report(),
            },
        },
        Err(error) => Reply::Refused {
            error: error.to_string(),
        },
    }
}

fn say(output: &mut impl Write, reply: &Reply) -> Result<(), Failure> {
    serde_json::to_writer(&mut *output, reply)?;
    output.write_all(b"\n")?;
    Ok(output.flush()?)
}

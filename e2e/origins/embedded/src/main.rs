//! Real origins on loopback for the tour, the tests and the benchmarks: each speaks, advertises and
//! hides exactly what its settings say, over HTTP/3, HTTP/2 and HTTP/1.1.
//!
//! `photofinish-origin JSON` prints one JSON line when every origin listens, and exits when its
//! standard input closes, or on SIGTERM or SIGINT.

mod certificates;
mod page;
mod quic;
mod settings;
mod site;
mod tcp;

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};

use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::certificates::{Authority, LeafFiles};
use crate::settings::{OriginSettings, Settings};
use crate::site::{Neighbour, Site};

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The only line on standard output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ready {
    ca_path: PathBuf,
    /// Digests of every leaf's and the CA's public key, for Chromium.
    spki: Vec<String>,
    /// In the order of the settings.
    origins: Vec<ReadyOrigin>,
    /// Files of every leaf, including those of `certificateHosts`.
    certificates: Vec<ReadyCertificate>,
}

#[derive(Serialize)]
struct ReadyOrigin {
    origin: String,
    host: String,
    port: u16,
}

#[derive(Serialize)]
struct ReadyCertificate {
    host: String,
    #[serde(flatten)]
    files: LeafFiles,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("photofinish-origin: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let json = std::env::args()
        .nth(1)
        .ok_or("usage: photofinish-origin JSON")?;
    let settings: Settings = serde_json::from_str(&json)?;
    let hosts = settings.origins.iter().map(|origin| origin.host.as_str());
    let hosts = hosts.chain(settings.certificate_hosts.iter().map(String::as_str));
    let certify = if settings.issued {
        certificates::read
    } else {
        certificates::issue
    };
    let authority = certify(&settings.dir, hosts)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let ready = listen(&settings, &authority)?;
        println!("{}", serde_json::to_string(&ready)?);
        end_asked_for().await
    })
}

/// A free TCP port is rarely taken on UDP, so this many tries fail only if something is broken.
const DRAWS: usize = 50;

struct Sockets {
    port: u16,
    tcp: Option<TcpListener>,
    udp: Option<UdpSocket>,
}

/// Binds the origin's sockets. With port 0 the number is free on both transports even if only one
/// is kept, so that an origin without HTTP/3 really refuses UDP there.
fn bind(origin: &OriginSettings) -> io::Result<Sockets> {
    if origin.port != 0 {
        let at = SocketAddr::new(origin.address, origin.port);
        let tcp = origin.tcp.then(|| TcpListener::bind(at)).transpose()?;
        let udp = origin.h3.then(|| UdpSocket::bind(at)).transpose()?;
        return Ok(Sockets {
            port: origin.port,
            tcp,
            udp,
        });
    }
    let mut draws = 1;
    loop {
        let tcp = TcpListener::bind((origin.address, 0))?;
        let at = tcp.local_addr()?;
        match UdpSocket::bind(at) {
            Ok(udp) => {
                return Ok(Sockets {
                    port: at.port(),
                    tcp: origin.tcp.then_some(tcp),
                    udp: origin.h3.then_some(udp),
                });
            }
            Err(error) if error.kind() != io::ErrorKind::AddrInUse || draws == DRAWS => {
                return Err(error);
            }
            Err(_) => draws += 1,
        }
    }
}

/// Binds every origin first, so that each can link to the others' ports, then serves them all.
fn listen(settings: &Settings, authority: &Authority) -> Result<Ready, Failure> {
    let bound: Vec<(&OriginSettings, Sockets)> = settings
        .origins
        .iter()
        .map(|origin| match bind(origin) {
            Ok(sockets) => Ok((origin, sockets)),
            Err(error) => Err(format!("{}:{}: {error}", origin.host, origin.port)),
        })
        .collect::<Result<_, _>>()?;
    let neighbours: Arc<[Neighbour]> = bound
        .iter()
        .map(|(origin, sockets)| Neighbour::new(origin, sockets.port))
        .collect();

    let log = settings.log.then(request_log);
    let mut origins = Vec::with_capacity(bound.len());
    for (index, (origin, sockets)) in bound.into_iter().enumerate() {
        let leaf = authority
            .leaves
            .get(&origin.host)
            .ok_or("no certificate for this host")?;
        let port = sockets.port;
        let site = Arc::new(Site::new(
            origin,
            port,
            index,
            Arc::clone(&neighbours),
            log.clone(),
        )?);
        if let Some(listener) = sockets.tcp {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let acceptor = tcp::acceptor(leaf, &origin.protocols)?;
            tokio::spawn(tcp::serve(listener, acceptor, Arc::clone(&site)));
        }
        if let Some(socket) = sockets.udp {
            tokio::spawn(quic::serve(quic::endpoint(socket, leaf)?, site));
        }
        origins.push(ReadyOrigin {
            origin: neighbours[index].origin.clone(),
            host: origin.host.clone(),
            port,
        });
    }
    let leaves = authority.leaves.iter();
    let certificates: Vec<_> = leaves
        .map(|(host, leaf)| ReadyCertificate {
            host: host.clone(),
            files: leaf.files.clone(),
        })
        .collect();
    let mut spki: Vec<_> = certificates
        .iter()
        .map(|leaf| leaf.files.spki.clone())
        .collect();
    spki.push(authority.ca_spki.clone());
    Ok(Ready {
        ca_path: authority.ca_path.clone(),
        spki,
        origins,
        certificates,
    })
}

/// Lines for standard error, written by a separate thread: a slow reader must not delay responses.
fn request_log() -> mpsc::Sender<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in lines {
            eprintln!("{line}");
        }
    });
    sender
}

async fn end_asked_for() -> Result<(), Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (ended, input_ended) = oneshot::channel::<()>();
    // A separate thread: tokio's stdin would block the runtime's shutdown.
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = ended.send(());
    });
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = input_ended => {}
    }
    Ok(())
}

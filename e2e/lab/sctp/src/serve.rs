//! The server: every transport at every address, plain on one port and with TLS on another.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::task::spawn_local;
use tokio_rustls::TlsAcceptor;

use crate::carrier::{Below, Carrier};
use crate::timers::Timers;
use crate::tls;
use crate::transport::{Candidate, Connection, Transport, listen};
use crate::{Failure, http};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServeSettings {
    /// For the certificate; an earlier one is used again.
    dir: PathBuf,
    addresses: Vec<IpAddr>,
    transports: Vec<Transport>,
    plain_port: u16,
    tls_port: u16,
    encapsulation_port: u16,
}

/// The only line on standard output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    certificate_path: PathBuf,
    served: Vec<Candidate>,
    unavailable: Vec<Unavailable>,
    timers: Timers,
}

#[derive(Serialize)]
struct Unavailable {
    #[serde(flatten)]
    candidate: Candidate,
    reason: String,
}

struct Server {
    settings: ServeSettings,
    acceptor: TlsAcceptor,
}

/// Listens on whatever is available here and names the rest.
pub async fn serve(settings: ServeSettings) -> Result<Ready, Failure> {
    let (config, certificate_path) = tls::server(&settings.dir)?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let server = Rc::new(Server { settings, acceptor });
    let (mut served, mut unavailable) = (Vec::new(), Vec::new());
    for &transport in &server.settings.transports {
        for &address in &server.settings.addresses {
            let candidate = Candidate { transport, address };
            match server.listen(candidate).await {
                Ok(()) => served.push(candidate),
                Err(error) => unavailable.push(Unavailable {
                    candidate,
                    reason: error.to_string(),
                }),
            }
        }
    }
    Ok(Ready {
        certificate_path,
        served,
        unavailable,
        timers: Timers::default(),
    })
}

impl Server {
    async fn listen(
        self: &Rc<Self>,
        Candidate { transport, address }: Candidate,
    ) -> io::Result<()> {
        let ports = [self.settings.plain_port, self.settings.tls_port];
        let below = match transport {
            Transport::Tcp | Transport::SctpKernel => {
                let listeners = ports.map(|port| listen(transport, address, port));
                for (listener, port) in listeners.into_iter().zip(ports) {
                    let tcp = transport == Transport::Tcp;
                    spawn_local(Rc::clone(self).accept_streams(listener?, tcp, port));
                }
                return Ok(());
            }
            Transport::SctpUdp => Below::Udp(self.settings.encapsulation_port),
            Transport::Sctp => Below::Ip,
        };
        let carrier = Carrier::open(below, address, ports.to_vec()).await?;
        spawn_local(Rc::clone(self).accept_associations(carrier));
        Ok(())
    }

    async fn accept_streams(self: Rc<Self>, listener: TcpListener, tcp: bool, port: u16) {
        loop {
            // An error is that of one connection, which its client has given up.
            if let Ok((stream, _)) = listener.accept().await {
                if tcp {
                    let _ = stream.set_nodelay(true);
                }
                spawn_local(Rc::clone(&self).exchange(Connection::Stream(stream), port));
            }
        }
    }

    async fn accept_associations(self: Rc<Self>, carrier: Rc<Carrier>) {
        loop {
            let association = carrier.accept().await;
            let port = association.local_port();
            spawn_local(Rc::clone(&self).exchange(Connection::Association(association), port));
        }
    }

    async fn exchange(self: Rc<Self>, connection: Connection, port: u16) {
        // Its client counts whatever goes wrong.
        let _ = if port == self.settings.tls_port {
            match self.acceptor.accept(connection).await {
                Ok(secure) => http::serve(secure).await,
                Err(error) => Err(error),
            }
        } else {
            http::serve(connection).await
        };
    }
}

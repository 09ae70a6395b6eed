//! Sockets for an origin: UDP and TCP on the same port number.

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};

use crate::settings::OriginSettings;

/// A free TCP port is rarely taken on UDP, so this many tries fail only if something is broken.
const DRAWS: usize = 50;

pub struct Sockets {
    pub port: u16,
    pub tcp: Option<TcpListener>,
    pub udp: Option<UdpSocket>,
}

/// Binds the origin's sockets. With port 0 the number is free on both transports even if only one
/// is kept, so that an origin without HTTP/3 really refuses UDP there.
pub fn bind(origin: &OriginSettings) -> io::Result<Sockets> {
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

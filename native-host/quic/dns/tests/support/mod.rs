//! A real DNS server on loopback, over UDP and TCP on one port; the test determines its answers.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use photofinish_dns::{Answer, Client, Failure, Kind, Question};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

/// Longer than any test may take: a test that ends earlier noticed the event instead of waiting for this.
pub const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    Udp,
    Tcp,
}

/// A question as received by the server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenQuery {
    pub transport: Transport,
    pub name: String,
    pub kind: RecordType,
}

/// The response; `None`: none at all.
type Respond = dyn Fn(&Message, Transport) -> Option<Vec<u8>> + Send + Sync;

pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<SeenQuery>>>,
}

impl Server {
    /// A server that answers queries with `respond`.
    pub async fn start(
        respond: impl Fn(&Message, Transport) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        let (udp, tcp) = one_port().await;
        let address = udp.local_addr().expect("address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let respond: Arc<Respond> = Arc::new(respond);
        tokio::spawn(serve_udp(udp, respond.clone(), seen.clone()));
        tokio::spawn(serve_tcp(tcp, respond, seen.clone()));
        Self { address, seen }
    }

    /// A server for these records; unknown names do not exist.
    pub async fn of(records: Vec<Record>) -> Self {
        Self::start(move |query, _| Some(encode(&zone_answer(query, &records)))).await
    }

    /// The same if no answer fits into a datagram.
    pub async fn over_tcp(records: Vec<Record>) -> Self {
        Self::start(move |query, transport| {
            let mut message = zone_answer(query, &records);
            if transport == Transport::Udp {
                message = reply(query, ResponseCode::NoError);
                message.metadata.truncation = true;
            }
            Some(encode(&message))
        })
        .await
    }

    pub async fn ask(&self, name: &str, kind: Kind) -> Result<Answer, Failure> {
        ask_within(self.address, name, kind, PATIENCE).await
    }

    pub fn seen(&self) -> Vec<SeenQuery> {
        self.seen.lock().expect("lock").clone()
    }
}

pub async fn ask_within(
    server: SocketAddr,
    name: &str,
    kind: Kind,
    timeout: Duration,
) -> Result<Answer, Failure> {
    let client = Client::of_server(server).expect("client");
    let question = Question::new(name, kind, timeout).expect("question");
    client.ask(&question).await
}

async fn one_port() -> (UdpSocket, TcpListener) {
    loop {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("tcp");
        let address = tcp.local_addr().expect("address");
        if let Ok(udp) = UdpSocket::bind(address).await {
            return (udp, tcp);
        }
    }
}

fn note(seen: &Mutex<Vec<SeenQuery>>, query: &Message, transport: Transport) {
    let question = &query.queries[0];
    seen.lock().expect("lock").push(SeenQuery {
        transport,
        name: question.name().to_ascii(),
        kind: question.query_type(),
    });
}

async fn serve_udp(socket: UdpSocket, respond: Arc<Respond>, seen: Arc<Mutex<Vec<SeenQuery>>>) {
    let mut buffer = vec![0; 65_535];
    loop {
        // A client that has gone causes an error on its port.
        let Ok((length, peer)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        let query = Message::from_vec(&buffer[..length]).expect("query");
        note(&seen, &query, Transport::Udp);
        if let Some(bytes) = respond(&query, Transport::Udp) {
            let _ = socket.send_to(&bytes, peer).await;
        }
    }
}

async fn serve_tcp(listener: TcpListener, respond: Arc<Respond>, seen: Arc<Mutex<Vec<SeenQuery>>>) {
    loop {
        let (stream, _) = listener.accept().await.expect("accept");
        tokio::spawn(serve_stream(stream, respond.clone(), seen.clone()));
    }
}

async fn serve_stream(
    mut stream: TcpStream,
    respond: Arc<Respond>,
    seen: Arc<Mutex<Vec<SeenQuery>>>,
) {
    while let Ok(length) = stream.read_u16().await {
        let mut buffer = vec![0; length.into()];
        if stream.read_exact(&mut buffer).await.is_err() {
            return;
        }
        let query = Message::from_vec(&buffer).expect("query");
        note(&seen, &query, Transport::Tcp);
        let Some(bytes) = respond(&query, Transport::Tcp) else {
            continue;
        };
        let length = u16::try_from(bytes.len()).expect("length");
        if stream.write_u16(length).await.is_err() || stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// An empty answer to `query`.
pub fn reply(query: &Message, code: ResponseCode) -> Message {
    let mut message = Message::response(query.id, query.op_code);
    message.add_query(query.queries[0].clone());
    message.metadata.recursion_available = true;
    message.metadata.response_code = code;
    message
}

pub fn encode(message: &Message) -> Vec<u8> {
    message.to_vec().expect("message")
}

/// The answer of a recursive resolver, following CNAMEs within the records.
fn zone_answer(query: &Message, records: &[Record]) -> Message {
    let question = &query.queries[0];
    let mut name = question.name().clone();
    let mut message = reply(query, ResponseCode::NoError);
    loop {
        let own: Vec<_> = records.iter().filter(|r| r.name == name).collect();
        if own.is_empty() && message.answers.is_empty() {
            return reply(query, ResponseCode::NXDomain);
        }
        let fits = |r: &&&Record| r.record_type() == question.query_type();
        message.add_answers(own.iter().filter(fits).map(|r| (*r).clone()));
        let alias = own.iter().find_map(|r| match &r.data {
            RData::CNAME(target) => Some(((*r).clone(), target.0.clone())),
            _ => None,
        });
        let Some((record, target)) = alias else {
            return message;
        };
        message.add_answer(record);
        name = target;
    }
}

pub fn name(text: &str) -> Name {
    Name::from_ascii(text).expect("name")
}

pub fn record(owner: &str, ttl: u32, data: RData) -> Record {
    Record::from_rdata(name(owner), ttl, data)
}

/// An answer with one HTTPS record per given rdata, written byte by byte.
pub fn https_reply(query: &Message, rdatas: &[&[u8]]) -> Vec<u8> {
    let mut bytes = encode(&reply(query, ResponseCode::NoError));
    for rdata in rdatas {
        // The owner is a pointer to the question's name (RFC 1035 section 4.1.4).
        bytes.extend_from_slice(&[0xc0, 12, 0, 65, 0, 1, 0, 0, 0, 60]);
        bytes.extend_from_slice(&u16::try_from(rdata.len()).expect("length").to_be_bytes());
        bytes.extend_from_slice(rdata);
    }
    bytes[7] = u8::try_from(rdatas.len()).expect("count");
    bytes
}

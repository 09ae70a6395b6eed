//! The second half of an attempt: one HTTP/3 GET on the established connection, then its end. HTTP/3 only starts here,
//! because a race may settle on another protocol after the handshake.

use std::borrow::Cow;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::Buf;
use h3::ConnectionState;
use h3::error::{Code, ConnectionError, LocalError, StreamError};
use http::header::{AGE, ALT_SVC, CONTENT_LENGTH, HeaderName, USER_AGENT};
use http::{HeaderMap, StatusCode};
use quinn::Side;

use crate::attempt::{Connection, IDLE_TIMEOUT, RECEIVE_WINDOW_BYTES};
use crate::failure::{AttemptFailure, Failure, IncompleteResponse, ResponseHead, Termination};
use crate::options::Request;
use crate::socket::Traffic;

/// What may arrive beside header and body: packet overhead, interim responses, retransmissions, and data in flight when
/// reading stopped.
const SLACK_BYTES: u64 = 4 * RECEIVE_WINDOW_BYTES as u64;

/// A response. Times count from the attempt's start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response {
    pub status: u16,
    /// The last `Alt-Svc` received, several lines joined by ", " (RFC 9110 section 5.3).
    pub alt_svc: Option<String>,
    /// The `Age` beside it: those of other responses say nothing about it.
    pub age: Option<String>,
    /// Body bytes read, at most the cap.
    pub body_bytes: u64,
    /// Whether the body was longer than the cap, or was not read because the status alone decides, as 421 does.
    pub truncated: bool,
    /// The request was handed to QUIC.
    pub request_sent: Duration,
    /// The final answer's header section was there.
    pub first_byte: Duration,
    pub done: Duration,
    pub rtt: Duration,
    pub traffic: Traffic,
    /// Packets declared lost over the whole connection.
    pub lost_packets: u64,
}

/// What has happened beside the response.
#[derive(Debug, Default)]
struct Events {
    started: AtomicBool,
    request_sent: AtomicBool,
    goaway: AtomicBool,
    settings: AtomicBool,
}

/// Why there is no complete response.
enum ExchangeError {
    Stream(StreamError),
    ContentLength,
}

impl From<StreamError> for ExchangeError {
    fn from(error: StreamError) -> Self {
        Self::Stream(error)
    }
}

impl Connection {
    /// Sends `request` and reads the answer within its limits, then closes the connection.
    pub async fn request(mut self, request: &Request) -> Result<Response, AttemptFailure> {
        let socket = self.transport.socket.clone();
        let limit = u64::from(request.max_body_bytes) + u64::from(request.max_header_bytes);
        socket.allow_bytes(limit + SLACK_BYTES);
        let events = Events::default();
        let mut received = IncompleteResponse::default();
        let outcome = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(match self.clock.is_at(request.deadline) {
                true => self.explain_silence(&events, &received),
                false => Failure::Cancelled,
            }),
            outcome = self.exchange(request, &events, &mut received) => {
                outcome.map_err(|error| self.explain(error, events.goaway.load(Ordering::Relaxed)))
            }
            error = socket.fatal_error() => Err(Failure::from_socket(error, "the response")),
            () = self.clock.reaches(request.deadline) => Err(self.explain_silence(&events, &received)),
        };
        match self.quic.close_reason() {
            // What h3 closes with is only queued so far, and keeps precedence over a later code.
            None | Some(quinn::ConnectionError::LocallyClosed) => {
                if let Some(code) = closing_code(&outcome) {
                    self.transport.close_with(code);
                }
            }
            Some(_) => self.transport.close_silently(),
        }
        outcome.map_err(|cause| AttemptFailure {
            cause,
            after: self.clock.elapsed(),
            traffic: socket.traffic(),
            lost_packets: self.quic.stats().path.lost_packets,
            response: (received != IncompleteResponse::default()).then(|| Box::new(received)),
        })
    }

    /// The reason why the deadline passed without a complete response.
    fn explain_silence(&self, events: &Events, received: &IncompleteResponse) -> Failure {
        // What has begun did not end in time, whatever else was announced or left out.
        if received.head.is_some() {
            return Failure::ResponseTimeout;
        }
        if events.goaway.load(Ordering::Relaxed) {
            return Failure::Goaway(Termination::new("the server is shutting down"));
        }
        // Until the request is sent, only the server's limits are awaited, and nothing is read.
        if events.started.load(Ordering::Relaxed) && !events.request_sent.load(Ordering::Relaxed) {
            return Failure::H3Error(Termination::new(
                "the server's limits on streams and data let no request be sent",
            ));
        }
        // A server that sends other streams is not silent: it omits the SETTINGS that must come first on its control
        // stream (RFC 9114 section 6.2.1), for which h3 waits indefinitely.
        let speaks = self.quic.stats().frame_rx.stream > 0;
        if speaks && !events.settings.load(Ordering::Relaxed) {
            return Failure::H3Error(Termination::new(
                "the server never sent its HTTP/3 SETTINGS",
            ));
        }
        Failure::ResponseTimeout
    }

    /// The failure: the connection's own reason first, then what HTTP/3 observed.
    fn explain(&self, error: ExchangeError, goaway: bool) -> Failure {
        match self.quic.close_reason() {
            // Closed by h3 itself, because the peer violated HTTP/3.
            None | Some(quinn::ConnectionError::LocallyClosed) => match error {
                ExchangeError::Stream(error) => from_stream(error),
                ExchangeError::ContentLength => breach(
                    "the content is not as long as its Content-Length",
                    Code::H3_MESSAGE_ERROR,
                ),
            },
            Some(reason) => {
                // Before our own idle time-out can have passed, it was the server's.
                let timeout = || match self.clock.elapsed() < IDLE_TIMEOUT {
                    true => Failure::ConnectionClosed(Termination::new(
                        "nothing came for as long as the server's idle time-out allows",
                    )),
                    false => Failure::ResponseTimeout,
                };
                match Failure::from_connection(&reason, &self.verifier, timeout) {
                    Failure::ConnectionClosed(end) if goaway && is_orderly(&end) => {
                        Failure::Goaway(end)
                    }
                    failure => failure,
                }
            }
        }
    }

    async fn exchange(
        &self,
        request: &Request,
        events: &Events,
        received: &mut IncompleteResponse,
    ) -> Result<Response, ExchangeError> {
        events.started.store(true, Ordering::Relaxed);
        let (mut driver, mut sender) = h3::client::builder()
            .max_field_section_size(u64::from(request.max_header_bytes))
            .send_grease(false)
            .build::<_, _, bytes::Bytes>(h3_quinn::Connection::new(self.quic.clone()))
            .await
            .map_err(StreamError::ConnectionError)?;
        let conversation = self.converse(&mut sender, request, events, received);
        let supervision = poll_fn(|cx| {
            let ended = driver.poll_close(cx);
            if driver.is_closing() {
                events.goaway.store(true, Ordering::Relaxed);
            }
            if matches!(driver.settings(), Cow::Borrowed(_)) {
                events.settings.store(true, Ordering::Relaxed);
            }
            ended
        });
        tokio::pin!(conversation);
        let broken: ConnectionError = tokio::select! {
            biased;
            answer = &mut conversation => return answer,
            broken = supervision => broken,
        };
        // The connection is dead, but an answer that had arrived before can still be read.
        let settled = poll_fn(|cx| match conversation.as_mut().poll(cx) {
            Poll::Ready(Ok(answer)) => Poll::Ready(Some(answer)),
            Poll::Ready(Err(_)) | Poll::Pending => Poll::Ready(None),
        });
        settled
            .await
            .ok_or_else(|| StreamError::ConnectionError(broken).into())
    }

    async fn converse(
        &self,
        sender: &mut h3::client::SendRequest<h3_quinn::OpenStreams, bytes::Bytes>,
        request: &Request,
        events: &Events,
        received: &mut IncompleteResponse,
    ) -> Result<Response, ExchangeError> {
        let mut message = http::Request::new(());
        *message.uri_mut() = request.uri.clone();
        message
            .headers_mut()
            .insert(USER_AGENT, request.user_agent.clone());
        let mut stream = sender.send_request(message).await?;
        stream.finish().await?;
        events.request_sent.store(true, Ordering::Relaxed);
        let request_sent = self.clock.elapsed();

        let response = loop {
            let response = stream.recv_response().await?;
            // Each value replaces the previous one (RFC 7838 section 3), including those of interim responses such as
            // 103, which may precede the final one (RFC 9114 section 4.1).
            if let Some(alt_svc) = joined(response.headers(), &ALT_SVC) {
                received.alt_svc = Some(alt_svc);
                received.age = joined(response.headers(), &AGE);
            }
            if !response.status().is_informational() {
                break response;
            }
        };
        let (status, first_byte) = (response.status(), self.clock.elapsed());
        received.head = Some(ResponseHead {
            status: status.as_u16(),
            first_byte,
        });
        // A request to the wrong server is to be repeated elsewhere, whatever the content (RFC 9110 section 15.5.20).
        let is_read = status != StatusCode::MISDIRECTED_REQUEST;
        let cap = u64::from(request.max_body_bytes);
        let mut body_bytes = 0;
        // Closing the connection ends the stream; h3-quinn's `stop_sending` can panic.
        while is_read
            && body_bytes <= cap
            && let Some(chunk) = stream.recv_data().await?
        {
            body_bytes += chunk.remaining() as u64;
        }
        let truncated = !is_read || body_bytes > cap;
        if !truncated && !has_declared_length(&response, body_bytes) {
            return Err(ExchangeError::ContentLength);
        }
        let path = self.quic.stats().path;
        Ok(Response {
            status: status.as_u16(),
            alt_svc: received.alt_svc.take(),
            age: received.age.take(),
            body_bytes: body_bytes.min(cap),
            truncated,
            request_sent,
            first_byte,
            done: self.clock.elapsed(),
            rtt: path.rtt,
            traffic: self.transport.socket.traffic(),
            lost_packets: path.lost_packets,
        })
    }
}

/// The code to close with if the response was not read to its end. On the request's stream, h3 finds violations of the
/// connection without closing it.
fn closing_code(outcome: &Result<Response, Failure>) -> Option<Code> {
    match outcome {
        Ok(response) => response.truncated.then_some(Code::H3_REQUEST_CANCELLED),
        Err(failure) => Some(
            failure
                .error_code()
                .filter(|code| code.sender == Side::Client)
                .map_or(Code::H3_REQUEST_CANCELLED, |code| code.number.into()),
        ),
    }
}

/// The failure observed by HTTP/3 if the connection stayed open, or was closed by h3.
fn from_stream(error: StreamError) -> Failure {
    let by_server = |message, code| Termination::over_h3(message, Side::Server, code);
    match error {
        StreamError::RemoteClosing => {
            Failure::Goaway(Termination::new("the server is shutting down"))
        }
        StreamError::RemoteTerminate { code } => match code {
            Code::H3_REQUEST_REJECTED => Failure::Goaway(by_server(
                "the server rejected the request unprocessed",
                code,
            )),
            Code::H3_VERSION_FALLBACK => Failure::VersionFallback(by_server(
                "the server wants this request over older HTTP",
                code,
            )),
            _ => Failure::H3Error(by_server("the server reset the stream", code)),
        },
        StreamError::HeaderTooBig { max_size, .. } => Failure::ResponseTooLarge(format!(
            "the header section of the response is larger than the {} KiB that are read",
            max_size / 1024
        )),
        StreamError::StreamError { code, reason, .. }
        | StreamError::ConnectionError(ConnectionError::Local {
            error: LocalError::Application { code, reason, .. },
        }) => breach(&reason, code),
        other => Failure::H3Error(Termination::new(other.to_string())),
    }
}

/// A violation by the server, which it is told with this code.
fn breach(reason: &str, code: Code) -> Failure {
    let message = format!("the server breaks HTTP/3: {reason}");
    Failure::H3Error(Termination::over_h3(message, Side::Client, code))
}

/// Whether the content is as long as Content-Length says, if it says so; h3 does not check it (RFC 9114 section 4.1.2).
/// The same length may be repeated, and a 304 gives that of the response it stands for (RFC 9110 section 8.6).
fn has_declared_length(response: &http::Response<()>, body_bytes: u64) -> bool {
    let without_content = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED];
    without_content.contains(&response.status())
        || joined(response.headers(), &CONTENT_LENGTH).is_none_or(|lengths| {
            lengths
                .split(',')
                .all(|length| length.trim().parse() == Ok(body_bytes))
        })
}

/// A server that shuts down finally closes without an error (RFC 9114 section 5.2).
fn is_orderly(end: &Termination) -> bool {
    end.code
        .as_ref()
        .is_some_and(|code| code.number == Code::H3_NO_ERROR.value())
}

fn joined(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values: Vec<_> = headers
        .get_all(name)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}

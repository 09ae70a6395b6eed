//! The Node binding of `photofinish-quic`. Types in, types out: nothing is decided here.
//! A network failure is a value, never an exception; a wrong argument is an exception, never a value.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use napi::bindgen_prelude::{Error, Result, Status, Uint8Array, create_custom_tokio_runtime};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use photofinish_quic as core;

// The linter counts what only Node calls as unused, unless it is public.
pub mod resolver;
mod results;

use results::{ChainVerdict, ConnectResult, RequestResult};

/// A listener of JavaScript's; it keeps no process alive.
type Listener = ThreadsafeFunction<(), (), (), Status, false, true>;

/// One worker is plenty for a handful of attempts; quinn's endpoints must be created within it.
#[napi_derive::module_init]
fn init() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("photofinish-quic")
        .enable_all()
        .build();
    // Without threads of its own the addon falls back to napi's default runtime.
    if let Ok(runtime) = runtime {
        // Meanwhile the caller reads its roots; the first attempt then costs what all others do.
        runtime.spawn(async { core::warm_up() });
        create_custom_tokio_runtime(runtime);
    }
}

/// Roots of trust, parsed once and shared by every attempt.
#[napi]
pub struct TrustStore {
    inner: Arc<core::TrustStore>,
}

#[napi]
impl TrustStore {
    /// PEM texts. `bundled`: publicly known roots; `extra`: those of the system and of the user.
    /// Throws when a text is no certificate or when no usable root is left. `postQuantum`: whether attempts offer a key
    /// share with ML-KEM, as they do by default.
    #[napi(constructor)]
    pub fn new(
        bundled: Vec<String>,
        extra: Vec<String>,
        post_quantum: Option<bool>,
    ) -> Result<Self> {
        let inner = match post_quantum {
            Some(false) => core::TrustStore::without_post_quantum(&bundled, &extra),
            _ => core::TrustStore::new(&bundled, &extra),
        }
        .map_err(invalid)?;
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Judges a chain (DER, as the server sent it) for `host` by the rules of an attempt.
    #[napi(catch_unwind)]
    pub fn judge(&self, host: String, chain: Vec<Uint8Array>) -> ChainVerdict {
        let chain: Vec<&[u8]> = chain.iter().map(AsRef::as_ref).collect();
        self.inner.judge(&host, &chain).into()
    }

    /// How many certificates could not serve as roots and were left out.
    #[napi(getter)]
    pub fn ignored(&self) -> u32 {
        self.inner.ignored().try_into().unwrap_or(u32::MAX)
    }
}

/// Where to connect, as whom, and how long to try.
#[napi(object, object_to_js = false)]
pub struct AttemptOptions {
    /// An IP address literal.
    pub address: String,
    pub port: u32,
    /// The name in SNI and in the certificate.
    pub server_name: String,
    /// The first retransmission comes after three times this.
    pub initial_rtt_ms: f64,
    pub handshake_timeout_ms: f64,
}

/// The one request of an attempt and the limits on its answer.
#[napi(object, object_to_js = false)]
pub struct RequestOptions {
    #[napi(ts_type = "'GET' | 'HEAD'")]
    pub method: String,
    /// `host` or `host:port`.
    pub authority: String,
    /// Starts with a slash; may carry a query.
    pub path: String,
    pub user_agent: String,
    pub max_body_bytes: u32,
    pub max_header_bytes: u32,
    /// From this call to the last byte of the answer.
    pub deadline_ms: f64,
}

/// What an attempt holds: created, then shaking hands, then established, then over.
enum Phase {
    Created,
    Busy,
    Established(Box<core::Connection>),
    Over,
}

/// One HTTP/3 attempt: `connect` once, then `request` at most once, `cancel` at any time.
/// An established attempt holds a socket until `request` ends or `cancel` is called.
#[napi]
pub struct QuicAttempt {
    trust: Arc<core::TrustStore>,
    options: core::ConnectOptions,
    cancel: core::Cancel,
    phase: Mutex<Phase>,
}

#[napi]
impl QuicAttempt {
    /// Throws when an argument is wrong. Nothing is sent yet, but all times of the attempt count from this call.
    #[napi(constructor)]
    pub fn new(trust: &TrustStore, options: AttemptOptions) -> Result<Self> {
        let options = core::ConnectOptions::new(
            &options.address,
            options.port,
            &options.server_name,
            options.initial_rtt_ms,
            options.handshake_timeout_ms,
        )
        .map_err(invalid)?
        // Handing `connect` to the worker thread takes time, too, the longer the busier the machine is.
        .counted_from(Instant::now());
        Ok(Self {
            trust: trust.inner.clone(),
            options,
            cancel: core::Cancel::default(),
            phase: Mutex::new(Phase::Created),
        })
    }

    /// Shakes hands. Calls `onFirstDatagram` once, when the peer first shows life. Rejects only when called twice.
    #[napi]
    pub async fn connect(
        &self,
        #[napi(ts_arg_type = "() => void")] on_first_datagram: Option<Listener>,
    ) -> Result<ConnectResult> {
        match self.enter(Phase::Busy) {
            Phase::Created => {}
            Phase::Over if self.cancel.is_cancelled() => {
                self.enter(Phase::Over);
                return Ok(ConnectResult::Failed {
                    failure: core::Failure::cancelled().into(),
                });
            }
            other => {
                self.enter(other);
                return Err(misuse("connect was called before"));
            }
        }
        let mut options = self.options.clone();
        if let Some(listener) = on_first_datagram {
            options = options.on_first_datagram(move || {
                listener.call((), ThreadsafeFunctionCallMode::NonBlocking);
            });
        }
        let (trust, cancel) = (self.trust.clone(), self.cancel.clone());
        // A task of its own, so that a panic ends this attempt and not the process.
        let task = tokio::spawn(async move { core::connect(&trust, &options, &cancel).await });
        let outcome = task
            .await
            .unwrap_or_else(|panic| Err(core::Failure::internal(panic)));
        let mut phase = lock(&self.phase);
        // Cancelled after the handshake was done, but before this line: the owner wants no socket.
        let outcome = match outcome {
            Ok(_) if self.cancel.is_cancelled() => Err(core::Failure::cancelled()),
            outcome => outcome,
        };
        Ok(match outcome {
            Ok(connection) => {
                let result = ConnectResult::from(connection.established());
                *phase = Phase::Established(Box::new(connection));
                result
            }
            Err(failure) => {
                *phase = Phase::Over;
                ConnectResult::Failed {
                    failure: failure.into(),
                }
            }
        })
    }

    /// Starts HTTP/3 on the established connection, sends the request, reads the answer and closes.
    /// Rejects only for a wrong argument, or when there is no established connection to use.
    #[napi]
    pub async fn request(&self, options: RequestOptions) -> Result<RequestResult> {
        let request = core::Request::new(
            &options.method,
            &options.authority,
            &options.path,
            &options.user_agent,
            options.max_body_bytes,
            options.max_header_bytes,
            options.deadline_ms,
        )
        .map_err(invalid)?;
        let connection = match self.enter(Phase::Over) {
            Phase::Established(connection) => connection,
            Phase::Over if self.cancel.is_cancelled() => {
                return Ok(RequestResult::Failed {
                    failure: core::Failure::cancelled().into(),
                });
            }
            other => {
                self.enter(other);
                return Err(misuse(
                    "request needs an established attempt, and can be called once",
                ));
            }
        };
        let task = tokio::spawn(async move { connection.request(&request).await });
        let outcome = task
            .await
            .unwrap_or_else(|panic| Err(core::Failure::internal(panic)));
        Ok(outcome.into())
    }

    /// Ends the attempt at once: what is pending resolves with `cancelled`, the peer is told, the
    /// socket is closed. Does nothing when the attempt is over.
    #[napi]
    pub fn cancel(&self) {
        self.cancel.cancel();
        let mut phase = lock(&self.phase);
        if matches!(*phase, Phase::Created | Phase::Established(_)) {
            *phase = Phase::Over;
        }
    }

    /// Moves on to `next` and gives what was before. The lock is not held when it returns.
    fn enter(&self, next: Phase) -> Phase {
        std::mem::replace(&mut lock(&self.phase), next)
    }
}

fn lock(phase: &Mutex<Phase>) -> MutexGuard<'_, Phase> {
    phase.lock().unwrap_or_else(PoisonError::into_inner)
}

fn invalid(problem: core::InvalidInput) -> Error {
    Error::new(Status::InvalidArg, problem.to_string())
}

fn misuse(problem: &str) -> Error {
    Error::new(Status::GenericFailure, problem)
}

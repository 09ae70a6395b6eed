//! The Node binding of `photofinish-quic`. Types in, types out: nothing is decided here.
//! A network failure is a value, never an exception; a wrong argument is an exception, never a value.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use napi::Env;
use napi::bindgen_prelude::{
    AsyncBlock, AsyncBlockBuilder, Error, Result, Status, Uint8Array, create_custom_tokio_runtime,
};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use photofinish_quic as core;
use tokio::task::JoinError;

mod options;
// The linter counts what only Node calls as unused, unless it is public.
pub mod resolver;
mod results;

use options::{AttemptOptions, RequestOptions, invalid};
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
    #[napi(constructor, catch_unwind)]
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
        self.inner.verify(&host, &chain).into()
    }

    /// How many certificates could not serve as roots and were left out.
    #[napi(getter)]
    pub fn ignored(&self) -> u32 {
        self.inner.ignored().try_into().unwrap_or(u32::MAX)
    }
}

/// The roots of the operating system, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name, as DER. What cannot be read
/// is left out.
#[napi(catch_unwind)]
pub fn system_roots() -> Vec<Uint8Array> {
    let roots = core::system_roots();
    roots.iter().map(|der| der.to_vec().into()).collect()
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
    // Shared with the futures: when a Node thread ends, this object is freed whether or not one of them is pending.
    inner: Arc<Attempt>,
}

struct Attempt {
    trust: Arc<core::TrustStore>,
    options: core::ConnectOptions,
    cancel: core::Cancel,
    phase: Mutex<Phase>,
}

#[napi]
impl QuicAttempt {
    /// Throws when an argument is wrong. Nothing is sent yet, but all times of the attempt count from this call.
    #[napi(constructor, catch_unwind)]
    pub fn new(trust: &TrustStore, options: AttemptOptions) -> Result<Self> {
        // Handing `connect` to the worker thread takes time, too, the longer the busier the machine is.
        let counted_from = Instant::now();
        let options = core::ConnectOptions::try_from(options)?.counted_from(counted_from);
        Ok(Self {
            inner: Arc::new(Attempt {
                trust: trust.inner.clone(),
                options,
                cancel: core::Cancel::default(),
                phase: Mutex::new(Phase::Created),
            }),
        })
    }

    /// Shakes hands. Calls `onFirstDatagram` once, when the peer first shows life. Rejects only when called twice.
    #[napi]
    pub fn connect(
        &self,
        env: &Env,
        #[napi(ts_arg_type = "() => void")] on_first_datagram: Option<Listener>,
    ) -> Result<AsyncBlock<ConnectResult>> {
        let attempt = self.inner.clone();
        AsyncBlockBuilder::new(async move { attempt.connect(on_first_datagram).await }).build(env)
    }

    /// Starts HTTP/3 on the established connection, sends the request, reads the answer and closes.
    /// Rejects only for a wrong argument, or when there is no established connection to use.
    #[napi]
    pub fn request(&self, env: &Env, options: RequestOptions) -> Result<AsyncBlock<RequestResult>> {
        let attempt = self.inner.clone();
        AsyncBlockBuilder::new(async move { attempt.request(options).await }).build(env)
    }

    /// Ends the attempt at once: what is pending resolves with `cancelled`, the peer is told, the
    /// socket is closed. Does nothing when the attempt is over.
    #[napi]
    pub fn cancel(&self) {
        self.inner.cancel.cancel();
        self.inner
            .leave(Phase::Over, |phase| !matches!(phase, Phase::Busy));
    }
}

/// Nobody is left to wait for it.
impl Drop for QuicAttempt {
    fn drop(&mut self) {
        self.inner.cancel.cancel();
    }
}

impl Attempt {
    async fn connect(&self, on_first_datagram: Option<Listener>) -> Result<ConnectResult> {
        let created = self.leave(Phase::Busy, |phase| matches!(phase, Phase::Created));
        if created.is_none() {
            return match self.cancel.is_cancelled() {
                true => Ok(Err(core::Failure::Cancelled.into()).into()),
                false => Err(misuse("connect was called before")),
            };
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
        let outcome = task.await.unwrap_or_else(|panic| Err(internal(panic)));
        let mut phase = lock(&self.phase);
        // Cancelled after the handshake was done, but before this line: the owner wants no socket.
        let outcome = match outcome {
            Ok(_) if self.cancel.is_cancelled() => Err(core::Failure::Cancelled.into()),
            outcome => outcome,
        };
        let result = outcome.as_ref().map(core::Connection::handshake);
        let result = result.map_err(Clone::clone).into();
        *phase = match outcome {
            Ok(connection) => Phase::Established(Box::new(connection)),
            Err(_) => Phase::Over,
        };
        Ok(result)
    }

    async fn request(&self, options: RequestOptions) -> Result<RequestResult> {
        let request = core::Request::try_from(options)?;
        let established = self.leave(Phase::Over, |phase| matches!(phase, Phase::Established(_)));
        let Some(Phase::Established(connection)) = established else {
            return match self.cancel.is_cancelled() {
                true => Ok(Err(core::Failure::Cancelled.into()).into()),
                false => Err(misuse(
                    "request needs an established attempt, and can be called once",
                )),
            };
        };
        let task = tokio::spawn(async move { connection.request(&request).await });
        Ok(task
            .await
            .unwrap_or_else(|panic| Err(internal(panic)))
            .into())
    }

    /// Moves on to `next` from such a phase, which it returns; none: the attempt is in another.
    fn leave(&self, next: Phase, is_such: impl Fn(&Phase) -> bool) -> Option<Phase> {
        let mut phase = lock(&self.phase);
        is_such(&phase).then(|| std::mem::replace(&mut *phase, next))
    }
}

fn internal(panic: JoinError) -> core::AttemptFailure {
    core::Failure::Internal(panic.to_string()).into()
}

fn lock(phase: &Mutex<Phase>) -> MutexGuard<'_, Phase> {
    phase.lock().unwrap_or_else(PoisonError::into_inner)
}

fn misuse(problem: &str) -> Error {
    Error::new(Status::GenericFailure, problem)
}

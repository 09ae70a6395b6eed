//! A link between two network namespaces that delays and loses packets as it is told. What a
//! packet's fate is (`direction`, `loss`) knows neither clock nor socket; `carry` has both.

pub mod busy_wait;
#[cfg(target_os = "linux")]
mod carry;
#[cfg(target_os = "linux")]
mod control;
#[cfg(target_os = "linux")]
mod device;
pub mod direction;
pub mod loss;
pub mod packet;
pub mod report;
pub mod shape;

#[cfg(target_os = "linux")]
pub use control::run;

/// Why there is no link, or no longer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    #[error("usage: photofinish-link JSON")]
    Usage,
    #[error("the device's name is too long")]
    LongName,
    #[error("the device's thread panicked")]
    Panic,
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

//! A link between two network namespaces that delays and loses packets as configured. The logic
//! (`direction`, `loss`) uses neither clock nor socket; `device` uses both.

pub mod busy_wait;
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

/// Why the link could not be created, or ended.
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

//! A link between two network namespaces that delays and loses packets as it is told. What a
//! packet's fate is (`lane`, `loss`) knows neither clock nor socket; `carry` has both.

#[cfg(target_os = "linux")]
mod carry;
#[cfg(target_os = "linux")]
mod control;
#[cfg(target_os = "linux")]
mod device;
pub mod lane;
pub mod loss;
pub mod packet;
pub mod report;
pub mod shape;
pub mod vigil;

#[cfg(target_os = "linux")]
pub use control::run;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

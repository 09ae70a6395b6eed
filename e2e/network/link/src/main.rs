//! `photofinish-link JSON` creates a TUN device in each of two network namespaces and carries
//! packets between them until its standard input closes. Linux only, since it needs network
//! namespaces.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    match photofinish_link::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("photofinish-link: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("photofinish-link: network namespaces are Linux");
    ExitCode::FAILURE
}

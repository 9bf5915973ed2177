//! Why a connection broke.

use crate::tls::TlsFault;
use dyno_model::Localized;
use std::io;

/// Why a connection broke, other than that the server closed it.
#[derive(Debug, Localized)]
pub enum Broken {
    /// The system's error.
    #[message(transparent)]
    System(#[from] io::Error),
    /// An error of the encryption.
    #[message("TLS: {0}", "TLS：{0}")]
    Tls(#[from] TlsFault),
}

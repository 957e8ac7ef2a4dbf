//! Where unguessable bytes come from, as something a test can replace.

use std::fmt;

/// A source of bytes that nobody can guess.
pub trait Entropy: Send + Sync + fmt::Debug {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError>;
}

/// The source gave nothing.
#[derive(Debug, thiserror::Error)]
#[error("there is no randomness")]
pub struct EntropyError {
    #[source]
    source: getrandom::Error,
}

/// The operating system's source.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        getrandom::fill(bytes).map_err(|source| EntropyError { source })
    }
}

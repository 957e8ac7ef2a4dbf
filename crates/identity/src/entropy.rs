//! The source of random bytes, which a test can replace.

use std::fmt;

/// A source of bytes that cannot be guessed.
pub trait Entropy: Send + Sync + fmt::Debug {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError>;
}

/// The source failed.
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

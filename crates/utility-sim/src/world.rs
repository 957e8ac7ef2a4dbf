//! What the handlers share.

use std::sync::Arc;

use crate::{swap::SwapDesk, utility::Utility};

/// The simulated world as the doors see it.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) utility: Arc<Utility>,
    pub(crate) swap_desk: SwapDesk,
    /// Whether to compress for clients that accept it.
    pub(crate) gzip: bool,
}

//! What the handlers share.

use std::{io, sync::Arc};

use clock::SharedClock;

use crate::{
    reloadly::{Aggregator, Message as AirtimeMessage},
    script::Script,
    settings::{SettingsError, SimulatorSettings},
    swap::SwapDesk,
    utility::Utility,
    vend_log::VendLog,
    xmlvend::Message,
};

/// The simulated world as the doors see it.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) script: Script,
    pub(crate) log: Arc<VendLog>,
    pub(crate) utility: Arc<Utility>,
    pub(crate) swap_desk: SwapDesk<Message>,
    pub(crate) aggregator: Arc<Aggregator>,
    pub(crate) airtime_swap_desk: SwapDesk<AirtimeMessage>,
    /// Whether XMLVend is compressed for clients that accept it.
    pub(crate) gzip: bool,
}

/// Why there is no world.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpeningError {
    #[error("the settings describe no possible world")]
    Settings(#[from] SettingsError),
    #[error("the vend log cannot be opened")]
    VendLog(#[from] io::Error),
}

impl World {
    pub(crate) fn open(settings: &SimulatorSettings, clock: SharedClock) -> Result<Self, OpeningError> {
        let log = Arc::new(VendLog::open(settings.vend_log.as_deref(), settings.vend_log_fsync)?);
        let utility = Utility::open(settings, Arc::clone(&log), Arc::clone(&clock))?;
        let aggregator = Aggregator::open(settings, Arc::clone(&log), clock)?;
        Ok(Self {
            script: Script::default(),
            log,
            utility: Arc::new(utility),
            swap_desk: SwapDesk::default(),
            aggregator: Arc::new(aggregator),
            airtime_swap_desk: SwapDesk::default(),
            gzip: settings.gzip,
        })
    }
}

//! What the handlers share.

use std::{io, sync::Arc};

use clock::SharedClock;

use crate::{
    memory::{Habits, SharedHabits},
    messaging::PostOffice,
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
    pub(crate) script: Arc<Script>,
    pub(crate) habits: SharedHabits,
    pub(crate) log: Arc<VendLog>,
    pub(crate) utility: Arc<Utility>,
    pub(crate) swap_desk: SwapDesk<Message>,
    pub(crate) aggregator: Arc<Aggregator>,
    pub(crate) airtime_swap_desk: SwapDesk<AirtimeMessage>,
    pub(crate) post: Arc<PostOffice>,
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
        let habits =
            SharedHabits::new(Habits { remembers: settings.remembers, on_repeat: settings.on_repeat });
        let utility = Utility::open(settings, habits.clone(), Arc::clone(&log), Arc::clone(&clock))?;
        let aggregator = Aggregator::open(settings, habits.clone(), Arc::clone(&log), Arc::clone(&clock))?;
        let script = Arc::new(Script::default());
        let post = PostOffice::open(&settings.messages, Arc::clone(&script), clock);
        Ok(Self {
            script,
            habits,
            log,
            utility: Arc::new(utility),
            swap_desk: SwapDesk::default(),
            aggregator: Arc::new(aggregator),
            airtime_swap_desk: SwapDesk::default(),
            post: Arc::new(post),
            gzip: settings.gzip,
        })
    }
}

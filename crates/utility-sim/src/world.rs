//! The state that all request handlers share.

use std::{io, sync::Arc};

use clock::SharedClock;
use message_sim::PostOffice;

use crate::{
    event_log::{Event, EventLog},
    lines,
    load::Load,
    local_time::gaborone,
    memory::{Habits, SharedHabits},
    meters::Meters,
    product::Product,
    reception,
    reloadly::{Aggregator, Message as AirtimeMessage},
    script::Script,
    settings::{SettingsError, SimulatorSettings},
    swap::Swap,
    utility::Utility,
    vend_log::{Past, VendLog},
    vtpass::{Agent, Message as AgentMessage},
    xmlvend::Message,
};

/// The state of the simulator.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) script: Arc<Script>,
    pub(crate) habits: SharedHabits,
    pub(crate) log: Arc<VendLog>,
    events: Arc<EventLog>,
    pub(crate) utility: Arc<Utility>,
    pub(crate) swap: Swap<Message>,
    pub(crate) aggregator: Arc<Aggregator>,
    pub(crate) airtime_swap: Swap<AirtimeMessage>,
    pub(crate) agent: Arc<Agent>,
    pub(crate) agent_swap: Swap<AgentMessage>,
    pub(crate) post: Arc<PostOffice>,
    /// The XMLVend requests that are open.
    pub(crate) load: Load,
    /// Whether XMLVend answers are compressed for clients that accept it.
    pub(crate) gzip: bool,
}

/// Why the simulator cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpeningError {
    #[error("the settings cannot be used")]
    Settings(#[from] SettingsError),
    #[error("the vend log cannot be used")]
    VendLog(#[from] io::Error),
    #[error("the event log cannot be used")]
    EventLog(#[source] io::Error),
}

impl World {
    pub(crate) fn open(settings: &SimulatorSettings, clock: SharedClock) -> Result<Self, OpeningError> {
        let (log, earlier) = VendLog::open(settings.vend_log.as_deref(), settings.vend_log_fsync)?;
        let (events, happened) =
            EventLog::open(settings.event_log.as_deref()).map_err(OpeningError::EventLog)?;
        let (log, events) = (Arc::new(log), Arc::new(events));
        let habits =
            SharedHabits::new(Habits { remembers: settings.remembers, on_repeat: settings.on_repeat });
        let (books, notes) = (|| Arc::clone(&log), Arc::clone(&events));
        let meters = Arc::new(Meters::register(settings.population, settings.water_population));
        let utility =
            Utility::open(settings, habits.clone(), books(), notes, Arc::clone(&meters), Arc::clone(&clock))?;
        let agent = Agent::open(settings, habits.clone(), books(), meters, Arc::clone(&clock))?;
        let aggregator = Aggregator::open(settings, habits.clone(), books(), Arc::clone(&clock))?;
        let script = Arc::new(Script::default());
        let receptions = reception::scripted(Arc::clone(&script));
        let post = PostOffice::open(settings.messages.credentials(), clock, gaborone(), receptions);
        let world = Self {
            script,
            habits,
            log,
            events,
            utility: Arc::new(utility),
            swap: Swap::default(),
            aggregator: Arc::new(aggregator),
            airtime_swap: Swap::default(),
            agent: Arc::new(agent),
            agent_swap: Swap::default(),
            post: Arc::new(post),
            load: Load::default(),
            gzip: settings.gzip,
        };
        world.recall(&earlier, &happened)?;
        Ok(world)
    }

    /// Sets how repeats and enquiries are handled from now on.
    pub(crate) fn set_habits(&self, habits: Habits) {
        self.habits.set(habits);
        self.events.append(&Event::Habits(habits));
    }

    /// Forgets all answers so far, but keeps the log.
    pub(crate) fn forget(&self) {
        self.events.append(&Event::Forgotten { vends: self.log.len() });
        self.utility.forget();
        self.aggregator.forget();
        self.agent.forget();
    }

    /// Restores the state from the logs of an earlier run.
    fn recall(&self, past: &[Past], happened: &[Event]) -> io::Result<()> {
        let mut forgotten = 0;
        for event in happened {
            match event {
                Event::Habits(habits) => self.habits.set(*habits),
                Event::Forgotten { vends } => forgotten = *vends,
                Event::Entered { .. } | Event::Reset { .. } => {}
            }
        }
        for (index, past) in past.iter().enumerate() {
            let is_forgotten = index < forgotten;
            let recalled = if past.record.product_type == Product::Airtime.as_str() {
                self.aggregator.recall(past, is_forgotten)
            } else if Agent::has_made(past) {
                self.agent.recall(past, is_forgotten)
            } else {
                self.utility.recall(past, is_forgotten)
            };
            recalled.ok_or_else(|| lines::unreadable("vend log", index))?;
        }
        for (index, event) in happened.iter().enumerate() {
            let again = match event {
                Event::Entered { meter, token } => self.utility.enter_again(meter, token),
                Event::Reset { meter } => self.utility.reset_again(meter),
                Event::Habits(_) | Event::Forgotten { .. } => Some(()),
            };
            again.ok_or_else(|| lines::unreadable("event log", index))?;
        }
        Ok(())
    }
}

//! The controls of a simulator that runs in the same process: what the control requests do, without HTTP.

use message_sim::Message;
use sts::Entry;

use crate::{
    memory::Habits,
    script::Misbehaviour,
    settings::{OnRepeat, Remembers},
    simulator::Simulator,
    vend_log::VendRecord,
};

/// What a meter did with a token.
#[derive(Clone, Debug, PartialEq)]
pub struct Entered {
    /// What the token did, or why it did nothing.
    pub entry: Entry,
    /// The total credit: kilowatt-hours of electricity (`45.2`), litres of water (`4500`).
    pub units_total: String,
}

impl Simulator {
    /// Adds a line to the script: a fault of the next replies.
    pub fn script(&self, line: Misbehaviour) {
        self.world().script.add(line);
    }

    /// Removes all lines of the script.
    pub fn forget_script(&self) {
        self.world().script.clear();
    }

    /// Every vend that was asked for, in order, with its outcome.
    pub fn vends(&self) -> Vec<VendRecord> {
        self.world().log.records(None)
    }

    /// The same of one subscriber.
    pub fn vends_for(&self, subscriber: &str) -> Vec<VendRecord> {
        self.world().log.records(Some(subscriber))
    }

    /// Enters a token into a meter. The digits may be grouped by blanks or hyphens. `None` if there is no such meter.
    pub fn enter(&self, meter: &str, token: &str) -> Option<Entered> {
        let digits: String = token.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
        let (entry, units_total) = self.world().utility.enter(meter, &digits)?;
        Some(Entered { entry, units_total })
    }

    /// Every received message, oldest first.
    pub fn messages(&self) -> Vec<Message> {
        self.world().post.inbox.read(None)
    }

    /// The same to one telephone or e-mail address.
    pub fn messages_to(&self, receiver: &str) -> Vec<Message> {
        self.world().post.inbox.read(Some(receiver))
    }

    /// Sets how repeats and enquiries are handled from now on.
    pub fn set_memory(&self, remembers: Remembers, on_repeat: OnRepeat) {
        self.world().set_habits(Habits { remembers, on_repeat });
    }

    /// Forgets all answers so far, but keeps the log of vends.
    pub fn forget_answers(&self) {
        self.world().forget();
    }
}

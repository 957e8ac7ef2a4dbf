//! The protocols, and what they hear and say, a line for each turn.

mod reading;
mod replaying;
mod sink;
mod writing;

use chrono::{DateTime, Utc};
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmEvent, Life, OutOfTurn, PurchaseId, Resolve, ResolveCommand,
    ResolveEvent, Rules, Timing,
};

pub use replaying::{ReplayError, Replayed, replay};
pub use sink::keep_in;

use sink::Run;

/// A protocol under way.
#[derive(Clone)]
pub struct Transcribed<P> {
    protocol: P,
    run: Run,
}

impl Transcribed<Confirm> {
    /// As [`Confirm::begin`].
    pub fn confirm(purchase: PurchaseId, timing: Timing) -> (Self, ConfirmCommand) {
        let (protocol, command) = Confirm::begin(timing);
        let run =
            Run::begins(purchase, || (writing::confirm_begins(&timing), writing::confirm_command(&command)));
        (Self { protocol, run }, command)
    }

    /// As [`Confirm::on`].
    ///
    /// # Errors
    /// As there.
    pub fn on(&mut self, event: ConfirmEvent) -> Result<ConfirmCommand, OutOfTurn> {
        let heard = self.run.hears(|| writing::confirm_event(&event));
        let command = self.protocol.on(event)?;
        self.run.says(heard, || writing::confirm_command(&command));
        Ok(command)
    }
}

impl Transcribed<Resolve> {
    /// As [`Resolve::begin`].
    pub fn found(
        purchase: PurchaseId,
        asker: Asker,
        life: &Life,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> (Self, ResolveCommand) {
        Self::begins("found", Resolve::begin(asker, life, at, rules), purchase, (asker, life, at, rules))
    }

    /// As [`Resolve::claimed`].
    pub fn claimed(
        purchase: PurchaseId,
        asker: Asker,
        life: &Life,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> (Self, ResolveCommand) {
        Self::begins("claimed", Resolve::claimed(asker, life, at, rules), purchase, (asker, life, at, rules))
    }

    /// As [`Resolve::on`].
    ///
    /// # Errors
    /// As there.
    pub fn on(&mut self, event: ResolveEvent) -> Result<ResolveCommand, OutOfTurn> {
        let heard = self.run.hears(|| writing::resolve_event(&event));
        let command = self.protocol.on(event)?;
        self.run.says(heard, || writing::resolve_command(&command));
        Ok(command)
    }

    fn begins(
        how: &str,
        (protocol, command): (Resolve, ResolveCommand),
        purchase: PurchaseId,
        (asker, life, at, rules): (Asker, &Life, DateTime<Utc>, &Rules),
    ) -> (Self, ResolveCommand) {
        let run = Run::begins(purchase, || {
            (writing::resolve_begins(how, asker, life, at, rules), writing::resolve_command(&command))
        });
        (Self { protocol, run }, command)
    }
}

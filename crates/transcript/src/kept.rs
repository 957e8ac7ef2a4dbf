//! The protocols with a transcript: one line for each event and the command that follows it.

mod reading;
mod replaying;
mod sink;
mod writing;

use chrono::{DateTime, Utc};
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmInput, Lifecycle, OutOfTurn, PurchaseId, Resolve, ResolveCommand,
    ResolveInput, Rules, Timing,
};

pub use replaying::{ReplayError, Replayed, replay};
pub use sink::keep_in;

use sink::Run;

/// A protocol in progress.
#[derive(Clone)]
pub struct Transcribed<P> {
    protocol: P,
    run: Run,
}

impl Transcribed<Confirm> {
    /// As [`Confirm::begin`].
    pub fn confirm<Reason>(purchase: PurchaseId, timing: Timing) -> (Self, ConfirmCommand<Reason>) {
        let (protocol, command) = Confirm::begin(timing);
        let run =
            Run::begins(purchase, || (writing::confirm_begins(&timing), writing::confirm_command(&command)));
        (Self { protocol, run }, command)
    }

    /// As [`Confirm::on`].
    ///
    /// # Errors
    /// As [`Confirm::on`].
    pub fn on<Reason>(&mut self, event: ConfirmInput<Reason>) -> Result<ConfirmCommand<Reason>, OutOfTurn> {
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
        lifecycle: &Lifecycle,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> (Self, ResolveCommand) {
        Self::begins(
            "found",
            Resolve::begin(asker, lifecycle, at, rules),
            purchase,
            (asker, lifecycle, at, rules),
        )
    }

    /// As [`Resolve::claimed`].
    pub fn claimed(
        purchase: PurchaseId,
        asker: Asker,
        lifecycle: &Lifecycle,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> (Self, ResolveCommand) {
        Self::begins(
            "claimed",
            Resolve::claimed(asker, lifecycle, at, rules),
            purchase,
            (asker, lifecycle, at, rules),
        )
    }

    /// As [`Resolve::on`].
    ///
    /// # Errors
    /// As [`Resolve::on`].
    pub fn on(&mut self, event: ResolveInput) -> Result<ResolveCommand, OutOfTurn> {
        let heard = self.run.hears(|| writing::resolve_event(&event));
        let command = self.protocol.on(event)?;
        self.run.says(heard, || writing::resolve_command(&command));
        Ok(command)
    }

    fn begins(
        how: &str,
        (protocol, command): (Resolve, ResolveCommand),
        purchase: PurchaseId,
        (asker, lifecycle, at, rules): (Asker, &Lifecycle, DateTime<Utc>, &Rules),
    ) -> (Self, ResolveCommand) {
        let run = Run::begins(purchase, || {
            (writing::resolve_begins(how, asker, lifecycle, at, rules), writing::resolve_command(&command))
        });
        (Self { protocol, run }, command)
    }
}

//! The protocols without a transcript.

use chrono::{DateTime, Utc};
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmInput, Lifecycle, OutOfTurn, PurchaseId, Resolve, ResolveCommand,
    ResolveInput, Rules, Timing,
};

/// A protocol in progress.
#[derive(Clone)]
pub struct Transcribed<P>(P);

impl Transcribed<Confirm> {
    /// As [`Confirm::begin`].
    pub fn confirm<Reason>(_purchase: PurchaseId, timing: Timing) -> (Self, ConfirmCommand<Reason>) {
        let (protocol, command) = Confirm::begin(timing);
        (Self(protocol), command)
    }

    /// As [`Confirm::on`].
    ///
    /// # Errors
    /// As [`Confirm::on`].
    pub fn on<Reason>(&mut self, event: ConfirmInput<Reason>) -> Result<ConfirmCommand<Reason>, OutOfTurn> {
        self.0.on(event)
    }
}

impl Transcribed<Resolve> {
    /// As [`Resolve::begin`].
    pub fn found(
        _purchase: PurchaseId,
        asker: Asker,
        lifecycle: &Lifecycle,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> (Self, ResolveCommand) {
        let (protocol, command) = Resolve::begin(asker, lifecycle, at, rules);
        (Self(protocol), command)
    }

    /// As [`Resolve::claimed`].
    pub fn claimed(
        _purchase: PurchaseId,
        asker: Asker,
        lifecycle: &Lifecycle,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> (Self, ResolveCommand) {
        let (protocol, command) = Resolve::claimed(asker, lifecycle, at, rules);
        (Self(protocol), command)
    }

    /// As [`Resolve::on`].
    ///
    /// # Errors
    /// As [`Resolve::on`].
    pub fn on(&mut self, event: ResolveInput) -> Result<ResolveCommand, OutOfTurn> {
        self.0.on(event)
    }
}

//! The protocols as they are: nothing is kept.

use chrono::{DateTime, Utc};
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmEvent, Life, OutOfTurn, PurchaseId, Resolve, ResolveCommand,
    ResolveEvent, Rules, Timing,
};

/// A protocol under way.
#[derive(Clone)]
pub struct Transcribed<P>(P);

impl Transcribed<Confirm> {
    /// As [`Confirm::begin`].
    pub fn confirm(_purchase: PurchaseId, timing: Timing) -> (Self, ConfirmCommand) {
        let (protocol, command) = Confirm::begin(timing);
        (Self(protocol), command)
    }

    /// As [`Confirm::on`].
    ///
    /// # Errors
    /// As there.
    pub fn on(&mut self, event: ConfirmEvent) -> Result<ConfirmCommand, OutOfTurn> {
        self.0.on(event)
    }
}

impl Transcribed<Resolve> {
    /// As [`Resolve::begin`].
    pub fn found(
        _purchase: PurchaseId,
        asker: Asker,
        life: &Life,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> (Self, ResolveCommand) {
        let (protocol, command) = Resolve::begin(asker, life, at, rules);
        (Self(protocol), command)
    }

    /// As [`Resolve::claimed`].
    pub fn claimed(
        _purchase: PurchaseId,
        asker: Asker,
        life: &Life,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> (Self, ResolveCommand) {
        let (protocol, command) = Resolve::claimed(asker, life, at, rules);
        (Self(protocol), command)
    }

    /// As [`Resolve::on`].
    ///
    /// # Errors
    /// As there.
    pub fn on(&mut self, event: ResolveEvent) -> Result<ResolveCommand, OutOfTurn> {
        self.0.on(event)
    }
}

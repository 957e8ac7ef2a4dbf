//! The reserves of a group, decided in order of arrival by facts read under the wallets' locks.

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, Utc};
use ledger::{AccountId, LedgerError};
use purchase::{ClientId, IdempotencyKey, Life, OrganisationId, PurchaseId, Timing};
use vend::{Product, SubscriberIdentifier};

use super::facts::Facts;
use super::on_file::OnFile;
use super::wallets::{ApplyError, LockedWallet, Wallets};
use crate::idempotency::LastUse;
use crate::purchases::{Reservation, ReserveRefusal, Reserved};

/// A reservation that is to be written.
pub(super) struct Accepted<'a> {
    pub(super) reservation: &'a Reservation,
    pub(super) commission_account: Option<AccountId>,
    /// Which use of its idempotency key it is.
    pub(super) use_of_key: Option<i32>,
    pub(super) reserved: Reserved,
    /// When the worker looks after it.
    pub(super) due_at: Option<DateTime<Utc>>,
}

/// The decided reserves of a group.
pub(super) struct Reserves<'a> {
    pub(super) accepted: Vec<Accepted<'a>>,
    busy: HashSet<(OrganisationId, Product, &'a SubscriberIdentifier)>,
    taken: HashSet<(ClientId, &'a IdempotencyKey)>,
    timing: &'a Timing,
}

impl<'a> Reserves<'a> {
    pub(super) fn new(timing: &'a Timing) -> Self {
        Self { accepted: Vec::new(), busy: HashSet::new(), taken: HashSet::new(), timing }
    }

    /// Decides one reservation; the facts that its group records, in `on_file`, and the reservations
    /// decided before it count. Whoever asks for a key that is held is told of that before anything else: the purchase
    /// that holds it answers for both.
    pub(super) fn decide(
        &mut self,
        reservation: &'a Reservation,
        facts: &Facts,
        on_file: &BTreeMap<PurchaseId, OnFile>,
        wallets: &mut Wallets,
    ) -> Result<Reserved, ReserveRefusal> {
        let key = reservation.keyed.as_ref().map(|keyed| (reservation.authority.client, &keyed.key));
        if is_held(facts, on_file) || key.is_some_and(|key| self.taken.contains(&key)) {
            return Err(ReserveRefusal::KeyTaken);
        }
        if facts.request.is_abandoned {
            return Err(ReserveRefusal::Abandoned);
        }
        // Older closings may have been cleared away, and an order that is this late must not leave anyway.
        if facts.request.age > self.timing.intake {
            return Err(ReserveRefusal::TooLate);
        }
        let wallet = admit(reservation, facts, wallets)?;
        let authority = &reservation.authority;
        let subscriber =
            (authority.organisation, reservation.request.product, &reservation.request.subscriber);
        let is_open = |id| on_file.get(&id).is_none_or(|purchase| purchase.life.state.name().is_open());
        let open = facts.open_purchase.filter(|id| is_open(*id));
        if open.is_some() || self.busy.contains(&subscriber) {
            return Err(ReserveRefusal::Pending { open });
        }
        if let Some(until) = facts.reference_rests_until {
            let wait = (until - facts.at).to_std().unwrap_or_default();
            return Err(ReserveRefusal::ReferenceRests { wait });
        }
        if facts.key.is_closed {
            return Err(ReserveRefusal::KeyClosed);
        }
        let commission_account = facts.caller.commission_account;
        if commission_account.is_none() && !reservation.price.commission.is_zero() {
            return Err(ReserveRefusal::NoCommissionAccount);
        }
        place_hold(reservation, wallets)?;
        self.busy.insert(subscriber);
        self.taken.extend(key);
        let use_of_key = key.map(|_| facts.key.last_use.as_ref().map_or(1, LastUse::next_number));
        let life = Life::reserved(wallet.handling, facts.at, self.timing);
        let due_at = life.lease_until;
        let reserved = Reserved { life, at: facts.at };
        self.accepted.push(Accepted {
            reservation,
            commission_account,
            use_of_key,
            reserved: reserved.clone(),
            due_at,
        });
        Ok(reserved)
    }
}

/// Whether the purchase that was made last under the reservation's key holds it, as its group leaves it.
fn is_held(facts: &Facts, on_file: &BTreeMap<PurchaseId, OnFile>) -> bool {
    let Some(last) = &facts.key.last_use else { return false };
    match on_file.get(&last.holder.purchase) {
        Some(left) => last.holds_in(left.life.state.name(), left.failure.as_ref(), facts.at),
        None => last.holds(facts.at),
    }
}

/// Whether this caller may debit this wallet at all.
fn admit(
    reservation: &Reservation,
    facts: &Facts,
    wallets: &Wallets,
) -> Result<LockedWallet, ReserveRefusal> {
    if !facts.caller.organisation_is_active {
        return Err(ReserveRefusal::Suspended);
    }
    if !facts.caller.authority_is_live {
        return Err(ReserveRefusal::Revoked);
    }
    if !facts.is_offered {
        return Err(ReserveRefusal::NotOffered);
    }
    if facts.caller.is_locked_to_allow_list && !facts.is_on_allow_list {
        return Err(ReserveRefusal::SubscriberNotAllowed);
    }
    let owner = reservation.authority.organisation;
    let wallet = wallets
        .get(reservation.request.debited_account)
        .filter(|wallet| wallet.organisation == owner)
        .ok_or(ReserveRefusal::UnknownAccount)?;
    if !wallet.is_active || !wallet.category.can_be_debited() {
        return Err(ReserveRefusal::NotDebitable);
    }
    if wallet.wallet.currency() != reservation.price.total.currency() {
        return Err(ReserveRefusal::OtherCurrency(wallet.wallet.currency()));
    }
    Ok(*wallet)
}

fn place_hold(reservation: &Reservation, wallets: &mut Wallets) -> Result<(), ReserveRefusal> {
    let total = reservation.price.total;
    let placed = wallets.apply(reservation.request.debited_account, |wallet| wallet.place_hold(total));
    placed.map_err(|error| match error {
        ApplyError::Ledger(LedgerError::Insufficient { gap }) => ReserveRefusal::Insufficient { gap },
        ApplyError::Ledger(
            LedgerError::NotHeld
            | LedgerError::NotPositive(_)
            | LedgerError::SameAccount
            | LedgerError::NoPostings
            | LedgerError::Contradiction
            | LedgerError::Money(_),
        ) => ReserveRefusal::NotDebitable,
        ApplyError::NotLocked(_) => ReserveRefusal::UnknownAccount,
    })
}

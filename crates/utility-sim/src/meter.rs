//! A meter, and the utility's record of it: keys, token identifiers, entered tokens.

use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::NaiveDateTime;
use serde::{Deserialize, Serialize};
use sts::{
    Acceptance, BaseDate, CreditAmount, EncryptionAlgorithm, Entry, KeyExpiry, KeyParameters, KeyRevision,
    KeyType, MeterNumber, MeterPan, Rnd, StsToken, SupplyGroupCode, TariffIndex, Tid, TokenIssuer,
    VendingKey, VirtualMeter, next_tid,
};

use crate::{product::Service, scenario::Scenario};

/// The vending key of the published STS conformance vectors. It has no value on a real meter.
const TEST_VENDING_KEY: [u8; 20] =
    *b"\xab\xab\xab\xab\xab\xab\xab\xab\x94\x94\x94\x94\x94\x94\x94\x94\x01\x23\x45\x67";
const TEST_SUPPLY_GROUP: &str = "123457";

/// A registered meter.
///
/// The key-change meter uses EA09, whose key change has the two tokens that fit into an XMLVend reply. Each vend takes
/// it from the key that it holds *now* to the next one. Therefore the tokens of the latest purchase work when they are
/// entered in order, even if an earlier purchase was never entered. Purchases that wait together contain the same key
/// change. After the first of them is entered, the credit tokens of the others work at once.
#[derive(Debug)]
pub(crate) struct Meter {
    number: MeterNumber,
    service: Service,
    scenario: Scenario,
    issuer: TokenIssuer,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    device: VirtualMeter,
    last_tid: Option<Tid>,
    /// Key changes whose first token was entered and whose second was not. The next key change takes another key,
    /// because the meter would refuse a repeated first token as used.
    begun_key_changes: u8,
    vends_asked: u64,
}

/// The data of a meter on a receipt.
#[derive(Clone, Debug)]
pub(crate) struct MeterData {
    pub(crate) number: MeterNumber,
    pub(crate) service: Service,
    pub(crate) algorithm: EncryptionAlgorithm,
    pub(crate) key: KeyParameters,
}

/// The tokens of one vend.
#[derive(Clone, Debug)]
pub(crate) struct Issue {
    /// The meter after the tokens are entered.
    pub(crate) meter: MeterData,
    /// Absent if the meter was credited without a token, or if a script removed it.
    pub(crate) credit: Option<StsToken>,
    pub(crate) key_change: Option<KeyChange>,
}

/// The tokens that take a meter to its next key.
#[derive(Clone, Debug)]
pub(crate) struct KeyChange {
    pub(crate) first: StsToken,
    pub(crate) second: StsToken,
    pub(crate) from: KeyParameters,
}

/// Identifies a key of a meter. The other parameters are the same for all keys of the meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeyName {
    revision: u8,
    tariff_index: u8,
}

/// Why no token can be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IssueError {
    #[error("no token identifier is left")]
    Tid(#[from] sts::TidError),
    #[error("the meter's key has expired")]
    Expired(#[from] sts::IssueError),
}

impl Meter {
    pub(crate) fn new(number: MeterNumber, service: Service, scenario: Scenario) -> Self {
        let issuer = issuer(algorithm(scenario), first_key(), &number);
        let device = new_device(&issuer, service);
        let state = State { device, last_tid: None, begun_key_changes: 0, vends_asked: 0 };
        Self { number, service, scenario, issuer, state: Mutex::new(state) }
    }

    pub(crate) fn number(&self) -> &str {
        self.number.as_str()
    }

    pub(crate) fn service(&self) -> Service {
        self.service
    }

    pub(crate) fn scenario(&self) -> Scenario {
        self.scenario
    }

    /// The current data of the meter.
    pub(crate) fn data(&self) -> MeterData {
        self.data_with(*self.state().device.parameters())
    }

    /// Counts a requested vend and returns the number of earlier ones.
    pub(crate) fn count_vend(&self) -> u64 {
        let mut state = self.state();
        let before = state.vends_asked;
        state.vends_asked = before.saturating_add(1);
        before
    }

    /// Makes the tokens of one vend. `rnd` makes equal purchases have different tokens.
    pub(crate) fn issue(
        &self,
        units: CreditAmount,
        local: NaiveDateTime,
        rnd: Rnd,
    ) -> Result<Issue, IssueError> {
        let mut state = self.state();
        let tid = next_tid(state.last_tid, local, BaseDate::Year2014)?;
        let issue = if self.scenario == Scenario::KeyChange {
            self.issue_with_key_change(&state, units, tid, rnd)?
        } else {
            self.issue_under(&self.issuer, None, units, tid, rnd)?
        };
        state.last_tid = Some(tid);
        Ok(issue)
    }

    /// Restores the tokens of a vend from an earlier run, in the order of entry, and the keys of its key change.
    pub(crate) fn restore(
        &self,
        local: NaiveDateTime,
        tokens: &[String],
        keys: Option<[KeyName; 2]>,
    ) -> Option<Issue> {
        self.restore_token_identifier(local)?;
        let tokens = tokens.iter().map(|digits| StsToken::parse(digits).ok()).collect::<Option<Vec<_>>>()?;
        match (tokens.as_slice(), keys) {
            ([], None) => Some(Issue { meter: self.data_with(first_key()), credit: None, key_change: None }),
            ([credit], None) => {
                Some(Issue { meter: self.data_with(first_key()), credit: Some(*credit), key_change: None })
            }
            ([first, second, credit], Some([from, to])) => Some(Issue {
                meter: self.data_with(to.key()?),
                credit: Some(*credit),
                key_change: Some(KeyChange { first: *first, second: *second, from: from.key()? }),
            }),
            _ => None,
        }
    }

    /// Restores that a vend of an earlier run has taken a token identifier.
    pub(crate) fn restore_token_identifier(&self, local: NaiveDateTime) -> Option<()> {
        let mut state = self.state();
        state.last_tid = Some(next_tid(state.last_tid, local, BaseDate::Year2014).ok()?);
        Some(())
    }

    /// Tokens of zeros for a trial vend, in place of the tokens of a vend. Does not change the meter.
    pub(crate) fn trial(&self) -> Issue {
        let zeros = || StsToken::parse("00000000000000000000").expect("twenty zeros are twenty digits");
        let credit = (self.scenario != Scenario::NoToken).then(zeros);
        if self.scenario != Scenario::KeyChange {
            return Issue { meter: self.data(), credit, key_change: None };
        }
        let (from, to) = self.state().keys_of_a_change();
        let key_change = Some(KeyChange { first: zeros(), second: zeros(), from });
        Issue { meter: self.data_with(to), credit, key_change }
    }

    /// If the utility reaches the meter over the network, enters the credit token, so the customer does not have to.
    pub(crate) fn credit_over_the_network(&self, issue: Issue) -> Issue {
        if self.scenario != Scenario::NoToken {
            return issue;
        }
        let typed = issue.credit.as_ref().map(|token| self.enter(token.digits()).0);
        if !typed.is_some_and(|entry| entry.is_accepted()) {
            tracing::error!(meter = %self.number, "the meter refuses its own token");
        }
        Issue { credit: None, ..issue }
    }

    /// Puts a new device in its place: without credit, with the first key, and without any token used. Identifiers of tokens go on, so
    /// no later sale gets the token of an earlier one.
    pub(crate) fn reset(&self) {
        let mut state = self.state();
        state.device = new_device(&self.issuer, self.service);
        state.begun_key_changes = 0;
    }

    /// Enters a token. The second value is the total credit so far, in tenths of the unit.
    pub(crate) fn enter(&self, digits: &str) -> (Entry, u64) {
        let mut state = self.state();
        let entry = state.device.enter(digits);
        match &entry {
            Entry::Accepted(Acceptance::KeySection(_)) => {
                state.begun_key_changes = state.begun_key_changes.saturating_add(1);
            }
            Entry::Accepted(Acceptance::KeyChanged { .. }) => state.begun_key_changes = 0,
            Entry::Accepted(
                Acceptance::Credit { .. }
                | Acceptance::CreditCleared
                | Acceptance::Instruction(_)
                | Acceptance::Test(_),
            )
            | Entry::Refused(_) => {}
        }
        let tenths = state.device.tenths(self.service.credit_kind()).unwrap_or_default();
        (entry, tenths)
    }

    fn issue_with_key_change(
        &self,
        state: &State,
        units: CreditAmount,
        tid: Tid,
        rnd: Rnd,
    ) -> Result<Issue, IssueError> {
        let (held, next) = state.keys_of_a_change();
        let from = issuer(EncryptionAlgorithm::Ea09, held, &self.number);
        let to = issuer(EncryptionAlgorithm::Ea09, next, &self.number);
        let tokens = from.key_change_to(&to).expect("meter, cipher and base date are the same");
        let [first, second] = tokens.try_into().expect("a key change for EA09 has two tokens");
        let key_change = KeyChange { first, second, from: *from.parameters() };
        self.issue_under(&to, Some(key_change), units, tid, rnd)
    }

    fn issue_under(
        &self,
        issuer: &TokenIssuer,
        key_change: Option<KeyChange>,
        units: CreditAmount,
        tid: Tid,
        rnd: Rnd,
    ) -> Result<Issue, IssueError> {
        let credit = issuer.credit(self.service.credit_kind(), units, tid, rnd)?;
        Ok(Issue { meter: self.data_with(*issuer.parameters()), credit: Some(credit), key_change })
    }

    fn data_with(&self, key: KeyParameters) -> MeterData {
        let (number, service) = (self.number.clone(), self.service);
        MeterData { number, service, algorithm: algorithm(self.scenario), key }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn new_device(issuer: &TokenIssuer, service: Service) -> VirtualMeter {
    VirtualMeter::new(issuer.decoder_key().clone(), *issuer.parameters(), &[service.credit_kind()])
}

impl State {
    /// The key that the meter holds, and the key after the next key change.
    fn keys_of_a_change(&self) -> (KeyParameters, KeyParameters) {
        let from = *self.device.parameters();
        let to = (0..=self.begun_key_changes).fold(from, |key, _change| key_after(key));
        (from, to)
    }
}

impl KeyName {
    pub(crate) fn of(key: &KeyParameters) -> Self {
        Self { revision: key.revision.get(), tariff_index: key.tariff_index.get() }
    }

    fn key(self) -> Option<KeyParameters> {
        let revision = KeyRevision::try_new(self.revision).ok()?;
        let tariff_index = TariffIndex::try_new(self.tariff_index).ok()?;
        Some(KeyParameters { revision, tariff_index, ..first_key() })
    }
}

impl Issue {
    /// The digits, in the order of entry.
    pub(crate) fn digits(&self) -> Vec<String> {
        let key_change = self.key_change.iter().flat_map(|change| [&change.first, &change.second]);
        key_change.chain(&self.credit).map(|token| token.digits().to_owned()).collect()
    }
}

fn algorithm(scenario: Scenario) -> EncryptionAlgorithm {
    if scenario == Scenario::KeyChange { EncryptionAlgorithm::Ea09 } else { EncryptionAlgorithm::Ea11 }
}

fn first_key() -> KeyParameters {
    KeyParameters {
        supply_group: SupplyGroupCode::parse(TEST_SUPPLY_GROUP).expect("it has six digits"),
        tariff_index: TariffIndex::try_new(1).expect("1 is a tariff index"),
        revision: KeyRevision::try_new(4).expect("4 is a key revision"),
        key_type: KeyType::Unique,
        base_date: BaseDate::Year2014,
        expiry: KeyExpiry::NEVER,
    }
}

/// The next tariff index. After the last one, the first index of the next revision. The meter remembers all tokens, so
/// keys must not repeat soon.
fn key_after(key: KeyParameters) -> KeyParameters {
    match TariffIndex::try_new(key.tariff_index.get() + 1) {
        Ok(tariff_index) => KeyParameters { tariff_index, ..key },
        Err(_past_the_last) => {
            let revision =
                KeyRevision::try_new(key.revision.get() % 9 + 1).expect("1 to 9 are key revisions");
            KeyParameters { tariff_index: first_key().tariff_index, revision, ..key }
        }
    }
}

fn issuer(algorithm: EncryptionAlgorithm, key: KeyParameters, number: &MeterNumber) -> TokenIssuer {
    TokenIssuer::new(&VendingKey::from_bytes(TEST_VENDING_KEY), algorithm, key, MeterPan::of(number))
}

#[cfg(test)]
mod tests;

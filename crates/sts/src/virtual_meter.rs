//! A prepayment meter in software. It accepts or refuses tokens like a real meter.

mod entry;
mod pending;
mod tid_memory;

pub use entry::{Acceptance, Entry, EntryRefusal};

use alloc::collections::{BTreeMap, BTreeSet};

use crate::clear_credit::{ClearCredit, CreditRegisters};
use crate::content::{DecodeError, TokenContent};
use crate::credit::Credit;
use crate::credit_kind::CreditKind;
use crate::decoder_key::DecoderKey;
use crate::instruction::{Instruction, InstructionToken, PowerLimit};
use crate::key_change::KeySection;
use crate::key_parameters::KeyParameters;
use crate::sts_token::StsToken;
use crate::tid::Tid;

use pending::PendingKeyChange;
use tid_memory::TidMemory;

/// A meter with one decoder key and one credit register for each of its services.
///
/// It has no clock, because a real meter does not need one. It judges the age of a token only by earlier tokens. It is
/// stricter than a real meter in one point: it remembers every accepted token, so it refuses every repeat as already
/// used, even after a key change.
///
/// Its key is in memory, as in a real meter: each key change brings it the next one. So it is for test keys.
///
/// ```
/// use sts::*;
///
/// # let parameters = KeyParameters {
/// #     supply_group: SupplyGroupCode::parse("123457")?,
/// #     tariff_index: TariffIndex::parse("01")?,
/// #     revision: KeyRevision::try_new(4)?,
/// #     key_type: KeyType::Unique,
/// #     base_date: BaseDate::Year2014,
/// #     expiry: KeyExpiry::NEVER,
/// # };
/// # let pan = MeterPan::of(&MeterNumber::parse("07040904562")?);
/// let issuer = TokenIssuer::new(&VendingKey::from_bytes([7; 20]), EncryptionAlgorithm::Ea11, parameters, pan);
/// let mut meter =
///     VirtualMeter::new(issuer.decoder_key().clone(), *issuer.parameters(), &[CreditKind::Electricity]);
///
/// let amount = CreditAmount::rounding_up(452)?;
/// let token = issuer.credit(CreditKind::Electricity, amount, Tid::try_new(6_777_210)?, Rnd::from_byte(9))?;
/// let credited = Acceptance::Credit { kind: CreditKind::Electricity, tenths: 452 };
/// assert_eq!(meter.enter(token.digits()), Entry::Accepted(credited));
/// assert_eq!(meter.enter(token.digits()), Entry::Refused(EntryRefusal::AlreadyUsed));
/// assert_eq!(meter.tenths(CreditKind::Electricity), Some(452));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct VirtualMeter {
    key: DecoderKey,
    parameters: KeyParameters,
    registers: BTreeMap<CreditKind, u64>,
    accepted: BTreeSet<StsToken>,
    tids: TidMemory,
    pending: PendingKeyChange,
    settings: MeterSettings,
}

/// The settings that instructions have changed. `None` until one did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MeterSettings {
    /// The most power that the load may draw.
    pub maximum_power: Option<PowerLimit>,
    /// The greatest difference of power between the phases.
    pub phase_unbalance: Option<PowerLimit>,
    /// The bits of the tariff rate.
    pub tariff_rate: Option<u16>,
    /// The bits of the factor of a water meter.
    pub water_factor: Option<u16>,
}

impl VirtualMeter {
    /// A new meter with this key and these services. It has seen no token.
    pub fn new(key: DecoderKey, parameters: KeyParameters, services: &[CreditKind]) -> Self {
        Self {
            key,
            parameters,
            registers: services.iter().map(|kind| (*kind, 0)).collect(),
            accepted: BTreeSet::new(),
            tids: TidMemory::default(),
            pending: PendingKeyChange::default(),
            settings: MeterSettings::default(),
        }
    }

    /// Enters a token: 20 digits without separators.
    pub fn enter(&mut self, digits: &str) -> Entry {
        match self.process(digits) {
            Ok(acceptance) => Entry::Accepted(acceptance),
            Err(refusal) => Entry::Refused(refusal),
        }
    }

    /// The credit so far since the last clearing, in tenths of a unit. `None` if the meter has no such service.
    pub fn tenths(&self, kind: CreditKind) -> Option<u64> {
        self.registers.get(&kind).copied()
    }

    /// The meter's parameters of its current key. A key change of two tokens does not update the supply group.
    pub fn parameters(&self) -> &KeyParameters {
        &self.parameters
    }

    /// The settings that instructions have changed.
    pub fn settings(&self) -> &MeterSettings {
        &self.settings
    }

    fn process(&mut self, digits: &str) -> Result<Acceptance, EntryRefusal> {
        let token = StsToken::parse(digits).map_err(EntryRefusal::Malformed)?;
        if self.accepted.contains(&token) {
            return Err(EntryRefusal::AlreadyUsed);
        }
        let content = TokenContent::decode(&token, &self.key).map_err(|error| match error {
            DecodeError::WrongChecksum => EntryRefusal::WrongChecksum,
            DecodeError::UnsupportedClass { .. } | DecodeError::UnsupportedContent { .. } => {
                EntryRefusal::Unsupported
            }
        })?;
        let acceptance = match content {
            TokenContent::Credit(credit) => self.add(credit),
            TokenContent::ClearCredit(clear) => self.clear(clear),
            TokenContent::Instruction(token) => self.follow(token),
            TokenContent::KeySection(section) => self.store(section),
            // A test changes nothing, so it may be entered again.
            TokenContent::MeterTest(test) => return Ok(Acceptance::Test(test)),
            // It has no register for money.
            TokenContent::CurrencyCredit(_) => Err(EntryRefusal::Unsupported),
        }?;
        self.accepted.insert(token);
        Ok(acceptance)
    }

    fn add(&mut self, credit: Credit) -> Result<Acceptance, EntryRefusal> {
        let (kind, tenths) = (credit.kind, credit.amount.tenths());
        self.check_age(credit.tid)?;
        let register = self.registers.get_mut(&kind).ok_or(EntryRefusal::WrongCreditKind { kind })?;
        *register = register.saturating_add(u64::from(tenths));
        self.tids.remember(credit.tid);
        Ok(Acceptance::Credit { kind, tenths })
    }

    fn clear(&mut self, clear: ClearCredit) -> Result<Acceptance, EntryRefusal> {
        self.check_age(clear.tid)?;
        match clear.registers {
            CreditRegisters::All => self.registers.values_mut().for_each(|register| *register = 0),
            CreditRegisters::One(kind) => {
                *self.registers.get_mut(&kind).ok_or(EntryRefusal::WrongCreditKind { kind })? = 0;
            }
            CreditRegisters::Currency(_) => return Err(EntryRefusal::Unsupported),
        }
        self.tids.remember(clear.tid);
        Ok(Acceptance::CreditCleared)
    }

    fn follow(&mut self, token: InstructionToken) -> Result<Acceptance, EntryRefusal> {
        self.check_age(token.tid)?;
        match token.instruction {
            Instruction::MaximumPower(limit) => self.settings.maximum_power = Some(limit),
            Instruction::PhaseUnbalance(limit) => self.settings.phase_unbalance = Some(limit),
            Instruction::TariffRate(bits) => self.settings.tariff_rate = Some(bits),
            Instruction::WaterFactor(bits) => self.settings.water_factor = Some(bits),
            // It notices no tampering, so there is nothing to forget.
            Instruction::ClearTamper => {}
        }
        self.tids.remember(token.tid);
        Ok(Acceptance::Instruction(token.instruction))
    }

    fn store(&mut self, section: KeySection) -> Result<Acceptance, EntryRefusal> {
        let number = section.number();
        let Some(change) = self.pending.store(section, self.key.algorithm())? else {
            return Ok(Acceptance::KeySection(number));
        };
        if change.roll_over {
            self.tids.clear();
        }
        self.parameters = change.applied_to(&self.parameters);
        self.key = change.key;
        Ok(Acceptance::KeyChanged { rolled_over: change.roll_over })
    }

    fn check_age(&self, tid: Tid) -> Result<(), EntryRefusal> {
        if !self.parameters.expiry.admits(tid) {
            return Err(EntryRefusal::KeyExpired);
        }
        self.tids.check(tid)
    }
}

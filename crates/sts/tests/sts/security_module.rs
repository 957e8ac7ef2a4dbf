//! Tokens whose keys live in a security module: they equal those from keys in memory, and a failure of the module makes none.

use std::cell::Cell;
use std::error::Error as _;

use sts::{
    BaseDate, Cipher, CreditAmount, CreditKind, CreditRegisters, CurrencyAmount, DecoderKey,
    EncryptionAlgorithm, Instruction, IssueError, IssuingKey, KeyChangeError, KeyExpiry, KeyParameters,
    KeyRevision, KeySection, KeyType, MeterNumber, MeterPan, Rnd, SecurityModule, StsToken, SupplyGroupCode,
    TariffIndex, Tid, TokenContent, TokenIssuer, VendingKey,
};

use CreditKind::Electricity;
use EncryptionAlgorithm::{Ea09, Ea11};

const VENDING_KEY: [u8; 20] = [7; 20];

/// A module that counts what it is asked, and may lose its connection.
#[derive(Default)]
struct Module {
    asked: Cell<u32>,
    lost: Cell<bool>,
}

/// A decoder key in the module. It is derived anew for each request, as by a module that keeps only vending keys.
struct Named<'m> {
    module: &'m Module,
    algorithm: EncryptionAlgorithm,
    parameters: KeyParameters,
    pan: MeterPan,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no connection to the module")]
struct ConnectionLost;

impl Module {
    fn ask(&self) -> Result<VendingKey, ConnectionLost> {
        self.asked.set(self.asked.get() + 1);
        if self.lost.get() { Err(ConnectionLost) } else { Ok(VendingKey::from_bytes(VENDING_KEY)) }
    }
}

impl<'m> SecurityModule for &'m Module {
    type DecoderKey = Named<'m>;
    type Error = ConnectionLost;

    fn decoder_key(
        &self,
        algorithm: EncryptionAlgorithm,
        parameters: &KeyParameters,
        pan: &MeterPan,
    ) -> Result<Named<'m>, ConnectionLost> {
        self.ask()?;
        Ok(Named { module: self, algorithm, parameters: *parameters, pan: pan.clone() })
    }
}

impl Named<'_> {
    fn inside(&self) -> Result<DecoderKey, ConnectionLost> {
        Ok(DecoderKey::derive(&self.module.ask()?, self.algorithm, &self.parameters, &self.pan))
    }
}

impl Cipher for Named<'_> {
    type Error = ConnectionLost;

    fn encrypt(&self, block: [u8; 8]) -> Result<[u8; 8], ConnectionLost> {
        let Ok(encrypted) = self.inside()?.encrypt(block);
        Ok(encrypted)
    }

    fn decrypt(&self, block: [u8; 8]) -> Result<[u8; 8], ConnectionLost> {
        let Ok(decrypted) = self.inside()?.decrypt(block);
        Ok(decrypted)
    }
}

impl IssuingKey for Named<'_> {
    fn algorithm(&self) -> EncryptionAlgorithm {
        self.algorithm
    }

    fn key_change(
        &self,
        new: &Self,
        parameters: &KeyParameters,
        roll_over: bool,
    ) -> Result<Vec<StsToken>, ConnectionLost> {
        let sections = KeySection::of(&new.inside()?, parameters, roll_over);
        sections.into_iter().map(|section| TokenContent::KeySection(section).encode_with(self)).collect()
    }
}

fn parameters() -> KeyParameters {
    KeyParameters {
        supply_group: SupplyGroupCode::parse("123457").expect("six digits"),
        tariff_index: TariffIndex::try_new(1).expect("two digits"),
        revision: KeyRevision::try_new(1).expect("one digit"),
        key_type: KeyType::Unique,
        base_date: BaseDate::Year1993,
        expiry: KeyExpiry::NEVER,
    }
}

fn rolled_over() -> KeyParameters {
    let revision = KeyRevision::try_new(4).expect("one digit");
    parameters().rolled_over(revision).expect("1993 is not the last base date")
}

fn pan() -> MeterPan {
    MeterPan::of(&MeterNumber::parse("07040904562").expect("a valid meter number"))
}

fn in_memory(algorithm: EncryptionAlgorithm, parameters: KeyParameters) -> TokenIssuer {
    TokenIssuer::new(&VendingKey::from_bytes(VENDING_KEY), algorithm, parameters, pan())
}

fn in_module(
    module: &Module,
    algorithm: EncryptionAlgorithm,
    parameters: KeyParameters,
) -> TokenIssuer<Named<'_>> {
    TokenIssuer::in_module(&module, algorithm, parameters, pan()).expect("the module answers")
}

fn amount() -> CreditAmount {
    CreditAmount::rounding_up(452).expect("within the range of the field")
}

fn tid() -> Tid {
    Tid::try_new(6_777_210).expect("24 bits")
}

/// One token of every kind that an issuer makes.
fn every_kind<K: IssuingKey>(issuer: &TokenIssuer<K>) -> Result<Vec<StsToken>, IssueError<K::Error>> {
    let money = CurrencyAmount::rounding_up(12_345_678).expect("within the range of the field");
    let rnd = Rnd::from_byte(3);
    Ok(vec![
        issuer.credit(Electricity, amount(), tid(), rnd)?,
        issuer.currency_credit(Electricity, money, tid())?,
        issuer.instruction(Instruction::ClearTamper, tid(), rnd)?,
        issuer.clear_credit(CreditRegisters::All, tid(), rnd)?,
    ])
}

#[test]
fn a_module_makes_the_tokens_that_a_key_in_memory_makes() {
    let module = Module::default();
    for algorithm in [Ea09, Ea11] {
        let (held, known) = (in_module(&module, algorithm, parameters()), in_memory(algorithm, parameters()));
        assert_eq!(every_kind(&held), Ok(every_kind(&known).expect("memory does not fail")), "{algorithm:?}");
    }
}

#[test]
fn a_module_makes_the_key_changes_that_keys_in_memory_make() {
    let module = Module::default();
    for (algorithm, tokens) in [(Ea09, 2), (Ea11, 4)] {
        let (old, new) =
            (in_module(&module, algorithm, parameters()), in_module(&module, algorithm, rolled_over()));
        let known =
            in_memory(algorithm, parameters()).key_change_to(&in_memory(algorithm, rolled_over())).unwrap();
        assert_eq!(known.len(), tokens);
        assert_eq!(old.key_change_to(&new), Ok(known));
    }
}

#[test]
fn a_module_that_does_not_answer_makes_no_token_and_is_the_source_of_the_error() {
    let module = Module::default();
    let (old, new) = (in_module(&module, Ea11, parameters()), in_module(&module, Ea11, rolled_over()));
    module.lost.set(true);
    let error = old.credit(Electricity, amount(), tid(), Rnd::from_byte(3)).unwrap_err();
    assert_eq!(error, IssueError::Module(ConnectionLost));
    assert_eq!(error.source().unwrap().to_string(), "no connection to the module");
    let error = old.key_change_to(&new).unwrap_err();
    assert_eq!(error, KeyChangeError::Module(ConnectionLost));
    assert_eq!(error.source().unwrap().to_string(), "no connection to the module");
    let none = TokenIssuer::in_module(&&module, Ea11, parameters(), pan());
    assert_eq!(none.err(), Some(ConnectionLost));

    module.lost.set(false);
    let again = old.credit(Electricity, amount(), tid(), Rnd::from_byte(3));
    let Ok(known) = in_memory(Ea11, parameters()).credit(Electricity, amount(), tid(), Rnd::from_byte(3))
    else {
        panic!("memory does not fail")
    };
    assert_eq!(again, Ok(known));
}

#[test]
fn a_module_is_not_asked_for_what_the_meter_would_refuse() {
    let module = Module::default();
    let expiring = KeyParameters { expiry: KeyExpiry::after_period(1), ..parameters() };
    let (expired, moved_back) = (in_module(&module, Ea11, expiring), in_module(&module, Ea11, rolled_over()));
    let asked = module.asked.get();
    assert_eq!(every_kind(&expired), Err(IssueError::KeyExpired { tid: tid() }));
    assert_eq!(moved_back.key_change_to(&expired), Err(KeyChangeError::BaseDate));
    assert_eq!(module.asked.get(), asked);
}

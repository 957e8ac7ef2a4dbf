//! Makes tokens with a vending key that stays in a PKCS#11 module, and compares them with those of the same key in memory.
//!
//! ```text
//! softhsm2-util --init-token --free --label vending --so-pin 0000 --pin 1234
//! PKCS11_PIN=1234 cargo run -p vendgate-sts --example pkcs11 /usr/lib/softhsm/libsofthsm2.so vending
//! ```
//!
//! What the module does: it keeps the vending key, which is sensitive and cannot be extracted, and computes the HMAC-SHA-256 of
//! DKGA04 with it. What it does not do: no PKCS#11 module has the ciphers of meters that are in use, EA07 (STA) and EA11 (MISTY1).
//! So the decoder key of a meter leaves the module, and this program encrypts with it in its own memory, key changes too.
//!
//! So this protects the vending key and nothing else. A copy of the program, of its disk or of its backups has no key. An attacker who
//! controls the running program can ask for the decoder key of every meter, and such a key makes tokens until that meter's key is
//! changed: the module must count and limit what it is asked. Modules made for STS also keep the decoder keys; for those implement
//! both traits as the documentation of `SecurityModule` shows.
//!
//! DKGA02 does not work like this. It adds the vending key to a block that was encrypted under it, so a decoder key and the
//! cipher text together give the vending key away.

#![expect(clippy::disallowed_methods, reason = "an example reads its PIN from the environment")]

use std::io::{self, Write};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType, KeyType as Pkcs11KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::types::AuthPin;
use sts::{
    BaseDate, CreditAmount, CreditKind, DecoderKey, EncryptionAlgorithm, IssueError, KeyExpiry,
    KeyParameters, KeyRevision, KeyType, MeterNumber, MeterPan, Rnd, SecurityModule, StsToken,
    SupplyGroupCode, TariffIndex, Tid, TokenIssuer, VendingKey,
};

/// The vending key of the published tokens.
const TEST_KEY: [u8; 20] =
    *b"\xab\xab\xab\xab\xab\xab\xab\xab\x94\x94\x94\x94\x94\x94\x94\x94\x01\x23\x45\x67";

/// `SoftHSM` refuses shorter keys for HMAC-SHA-256. HMAC fills a key up with zeros itself, so zeros at its end change nothing.
const SHORTEST_KEY: usize = 32;

/// A session with the module, in which the user has logged in.
struct Module {
    session: Session,
}

/// Why the module gave no decoder key.
#[derive(Debug, thiserror::Error)]
enum ModuleError {
    #[error("the module refused the request")]
    Refused(#[from] cryptoki::error::Error),
    #[error("the module has no key {label}: import the vending key of this supply group and revision")]
    NoVendingKey { label: String },
    #[error("the module has {count} keys {label}: delete those that are not the vending key")]
    Ambiguous { label: String, count: usize },
    #[error("the module answered {length} bytes where HMAC-SHA-256 has 32")]
    Length { length: usize },
}

impl SecurityModule for Module {
    type DecoderKey = DecoderKey;
    type Error = ModuleError;

    fn decoder_key(
        &self,
        algorithm: EncryptionAlgorithm,
        parameters: &KeyParameters,
        pan: &MeterPan,
    ) -> Result<DecoderKey, ModuleError> {
        let vending_key = self.vending_key(parameters)?;
        DecoderKey::derive_with(algorithm, parameters, pan, |message| {
            let digest = self.session.sign(&Mechanism::Sha256Hmac, vending_key, message)?;
            digest.try_into().map_err(|digest: Vec<u8>| ModuleError::Length { length: digest.len() })
        })
    }
}

impl Module {
    fn connect(library: &str, token: &str, pin: String) -> Result<Self, Box<dyn std::error::Error>> {
        let pkcs11 = Pkcs11::new(library)?;
        pkcs11.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK))?;
        for slot in pkcs11.get_slots_with_initialized_token()? {
            if pkcs11.get_token_info(slot)?.label() == token {
                let session = pkcs11.open_rw_session(slot)?;
                session.login(UserType::User, Some(&AuthPin::from(pin)))?;
                return Ok(Self { session });
            }
        }
        Err(format!("the module has no token {token}: create it with softhsm2-util").into())
    }

    fn vending_key(&self, parameters: &KeyParameters) -> Result<ObjectHandle, ModuleError> {
        let label = label(parameters);
        let keys = self.session.find_objects(&[
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::Label(label.clone().into_bytes()),
        ])?;
        match keys.as_slice() {
            [] => Err(ModuleError::NoVendingKey { label }),
            [key] => Ok(*key),
            keys => Err(ModuleError::Ambiguous { label, count: keys.len() }),
        }
    }

    /// Stands for the ceremony in which a vending key reaches the module. A real one is unwrapped there, and no program sees it.
    fn import_test_key(&self, parameters: &KeyParameters) -> Result<(), ModuleError> {
        match self.vending_key(parameters) {
            Err(ModuleError::NoVendingKey { .. }) => {}
            found => return found.map(drop),
        }
        let mut value = TEST_KEY.to_vec();
        value.resize(SHORTEST_KEY, 0);
        self.session.create_object(&[
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::KeyType(Pkcs11KeyType::GENERIC_SECRET),
            Attribute::Label(label(parameters).into_bytes()),
            Attribute::Token(true),
            Attribute::Private(true),
            Attribute::Sensitive(true),
            Attribute::Extractable(false),
            Attribute::Sign(true),
            Attribute::Value(value),
        ])?;
        Ok(())
    }

    /// Whether the module shows the bytes of the vending key.
    fn shows_vending_key(&self, parameters: &KeyParameters) -> Result<bool, ModuleError> {
        let key = self.vending_key(parameters)?;
        Ok(!self.session.get_attributes(key, &[AttributeType::Value])?.is_empty())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(library), Some(token)) = (arguments.next(), arguments.next()) else {
        return Err("name the library of the module and the token in it".into());
    };
    let pin = std::env::var("PKCS11_PIN").map_err(|error| format!("PKCS11_PIN: {error}"))?;
    let module = Module::connect(&library, &token, pin)?;

    let pan = MeterPan::of(&MeterNumber::parse("07040904562")?);
    let before = parameters()?;
    let after = before.rolled_over(KeyRevision::try_new(4)?).ok_or("no next base date")?;
    for parameters in [&before, &after] {
        module.import_test_key(parameters)?;
        if module.shows_vending_key(parameters)? {
            return Err("the module shows the vending key".into());
        }
    }
    let mut out = io::stdout().lock();
    for algorithm in [EncryptionAlgorithm::Ea11, EncryptionAlgorithm::Ea09] {
        let held = |parameters| TokenIssuer::in_module(&module, algorithm, parameters, pan.clone());
        let in_memory = VendingKey::from_bytes(TEST_KEY);
        let known = |parameters| TokenIssuer::new(&in_memory, algorithm, parameters, pan.clone());
        let from_module = tokens(&held(before)?, &held(after)?)?;
        if from_module != tokens(&known(before), &known(after))? {
            return Err(format!("the module's tokens for EA{} are wrong", algorithm.code()).into());
        }
        writeln!(out, "EA{}: {} tokens equal those from memory", algorithm.code(), from_module.len())?;
    }
    Ok(())
}

/// Two credits, and the key change between them.
fn tokens(old: &TokenIssuer, new: &TokenIssuer) -> Result<Vec<StsToken>, Box<dyn std::error::Error>> {
    let credit = |issuer: &TokenIssuer| -> Result<StsToken, IssueError> {
        let amount = CreditAmount::rounding_up(452).expect("within the range of the field");
        let tid = Tid::try_new(6_777_210).expect("24 bits");
        issuer.credit(CreditKind::Electricity, amount, tid, Rnd::from_byte(5))
    };
    let mut tokens = vec![credit(old)?];
    tokens.extend(old.key_change_to(new)?);
    tokens.push(credit(new)?);
    Ok(tokens)
}

/// A decoder key never depends on the name of the vending key, so each module may choose its own.
fn label(parameters: &KeyParameters) -> String {
    format!("sts-vending-key-{}-{}", parameters.supply_group, parameters.revision)
}

fn parameters() -> Result<KeyParameters, sts::KeyParameterError> {
    Ok(KeyParameters {
        supply_group: SupplyGroupCode::parse("123457")?,
        tariff_index: TariffIndex::parse("01")?,
        revision: KeyRevision::try_new(1)?,
        key_type: KeyType::Unique,
        base_date: BaseDate::Year1993,
        expiry: KeyExpiry::NEVER,
    })
}

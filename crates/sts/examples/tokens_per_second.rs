//! Measures how many credit tokens one core makes and reads in a second, with each cipher.

#![expect(clippy::disallowed_methods, reason = "a measurement reads the clock of the machine")]

use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use sts::{
    BaseDate, CreditAmount, CreditKind, EncryptionAlgorithm, KeyExpiry, KeyParameters, KeyRevision, KeyType,
    MeterNumber, MeterPan, Rnd, StsToken, SupplyGroupCode, TariffIndex, Tid, TokenContent, TokenIssuer,
    VendingKey,
};

const MEASURED_FOR: Duration = Duration::from_secs(1);
/// The clock is read once for this many tokens.
const AT_ONCE: u32 = 256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "tokens per second on one core\n{:<8}{:>12}{:>12}{:>16}",
        "", "made", "read", "key and token"
    )?;
    for algorithm in [EncryptionAlgorithm::Ea11, EncryptionAlgorithm::Ea09] {
        let issuer = issuer(algorithm)?;
        let token = credit(&issuer, 0)?;
        let made = per_second(|minute| credit(&issuer, minute).map(drop))?;
        let read = per_second(|_minute| {
            Ok(TokenContent::decode(black_box(&token), issuer.decoder_key()).map(drop)?)
        })?;
        let derived = per_second(|minute| credit(&self::issuer(algorithm)?, minute).map(drop))?;
        writeln!(out, "{:<8}{made:>12}{read:>12}{derived:>16}", format!("EA{}", algorithm.code()))?;
    }
    Ok(())
}

/// How often the work is done in a second. It gets the number of the repetition.
fn per_second(
    mut work: impl FnMut(u64) -> Result<(), Box<dyn std::error::Error>>,
) -> Result<u128, Box<dyn std::error::Error>> {
    let (started, mut done) = (Instant::now(), 0_u64);
    while started.elapsed() < MEASURED_FOR {
        for _ in 0..AT_ONCE {
            work(done)?;
            done += 1;
        }
    }
    Ok(u128::from(done) * 1_000_000_000 / started.elapsed().as_nanos())
}

fn credit(issuer: &TokenIssuer, minute: u64) -> Result<StsToken, Box<dyn std::error::Error>> {
    let tid = Tid::try_new(minute % (1 << 24))?;
    let amount = CreditAmount::rounding_up(452)?;
    Ok(black_box(issuer.credit(CreditKind::Electricity, amount, tid, Rnd::from_byte(5))?))
}

fn issuer(algorithm: EncryptionAlgorithm) -> Result<TokenIssuer, Box<dyn std::error::Error>> {
    let parameters = KeyParameters {
        supply_group: SupplyGroupCode::parse("123457")?,
        tariff_index: TariffIndex::parse("01")?,
        revision: KeyRevision::try_new(4)?,
        key_type: KeyType::Unique,
        base_date: BaseDate::Year2014,
        expiry: KeyExpiry::NEVER,
    };
    let pan = MeterPan::of(&MeterNumber::parse("07040904562")?);
    Ok(TokenIssuer::new(&VendingKey::from_bytes([7; 20]), algorithm, parameters, pan))
}

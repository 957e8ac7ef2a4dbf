//! A purchase whose reply is lost, and how it is settled without a second vend: `cargo run -p vendgate-purchase --example doubt`.
//!
//! `Confirm` and `Resolve` decide, and do no input or output. `Shop` carries out what they command, one `match` arm for each command. A
//! variable stands for the row of a purchase, and a counter for the provider. In a program of yours `reserve` and `record` are
//! transactions of a database, and the requests to the provider are on a network.

use std::error::Error;
use std::fmt::Write as _;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use ledger::{AccountId, LedgerError, Wallet};
use meter_token::TokenSet;
use money::Money;
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmInput, Effect, Event, Handling, Lifecycle, Next, Resolve,
    ResolveAnswer, ResolveCommand, ResolveInput, Rules, TimedEvent, Timing, step,
};
use vend::{Capabilities, Doubt, Enquiry, RawReply, Vend, VendOutcome};

struct Shop {
    rules: Rules,
    /// The clock of the database.
    now: DateTime<Utc>,
    wallet: Wallet,
    total: Money,
    purchase: Option<Lifecycle>,
    /// What the provider has vended. Its replies to orders are lost.
    vends: Vec<Vend>,
    page: String,
}

impl Shop {
    fn open() -> Result<Self, Box<dyn Error>> {
        let balance: Money = "BWP 500.00".parse()?;
        Ok(Self {
            rules: Rules { declared: Capabilities::NONE, timing: Timing::default() },
            now: DateTime::UNIX_EPOCH,
            wallet: Wallet::new(AccountId(7), balance, Money::zero(balance.currency()))?,
            total: "BWP 100.00".parse()?,
            purchase: None,
            vends: Vec::new(),
            page: String::new(),
        })
    }

    /// One confirm of the one reservation.
    fn confirm(&mut self) -> Result<(), Box<dyn Error>> {
        let (mut protocol, mut command) = Confirm::begin::<()>(self.rules.timing);
        loop {
            let input = match command {
                ConfirmCommand::Reserve => {
                    self.says("confirm: reserve");
                    self.reserve()?
                }
                ConfirmCommand::Send { leave_within } => {
                    self.says(&format!("confirm: send within {} ms", leave_within.as_millis()));
                    self.provider_vends()?;
                    ConfirmInput::Answered(VendOutcome::Unknown(Doubt::TimedOut.into()))
                }
                ConfirmCommand::Record(event) => {
                    self.says(&format!("confirm: record {}", event.kind().as_str()));
                    self.record(event)?;
                    ConfirmInput::Recorded
                }
                ConfirmCommand::Refuse(()) => return Err("no rule of this shop refuses".into()),
                ConfirmCommand::Answer => {
                    let state = self.row()?.state.name();
                    self.says(&format!("confirm: answer {}", state.as_str()));
                    return Ok(());
                }
            };
            command = protocol.on(input)?;
        }
    }

    /// The reserve. If it runs again, it finds the purchase, and says that it is not new.
    fn reserve(&mut self) -> Result<ConfirmInput, LedgerError> {
        let is_new = self.purchase.is_none();
        if is_new {
            self.wallet = self.wallet.place_hold(self.total)?;
        }
        let reserved = Lifecycle::reserved(Handling::SelfManaged, self.now, &self.rules.timing);
        let fence = reserved.fence;
        self.purchase.get_or_insert(reserved);
        // A program measures both by a clock that goes on while it is suspended.
        let (since_reserve, since_arrival) = (Duration::from_millis(4), Duration::from_millis(9));
        Ok(ConfirmInput::Reserved { fence, is_new, since_reserve, since_arrival })
    }

    /// Proposes an event to the purchase. Returns whether it has moved the purchase.
    fn record(&mut self, event: Event) -> Result<bool, Box<dyn Error>> {
        let timed = TimedEvent { at: self.now, event };
        let Ok(Next::Moved(lifecycle, effects)) = step(self.row()?, &timed, &self.rules) else {
            // It is there already, or it is not legal any more. Both protocols go on with the row as it is.
            return Ok(false);
        };
        for effect in effects {
            match effect {
                Effect::CaptureHold => self.wallet = self.wallet.capture_hold(self.total)?,
                Effect::ReleaseHold => self.wallet = self.wallet.release_hold(self.total)?,
                Effect::OpenIncident(incident) => self.says(&format!("incident {}", incident.as_str())),
            }
        }
        self.purchase = Some(lifecycle);
        Ok(true)
    }

    /// A retry: what became of it?
    fn retry(&mut self) -> Result<ResolveAnswer, Box<dyn Error>> {
        let found = self.row()?.clone();
        let (mut protocol, mut command) = Resolve::begin(Asker::Integrator, &found, self.now, &self.rules);
        loop {
            let input = match command {
                ResolveCommand::TakeTurn(fence) => {
                    self.says("retry: take turn");
                    match self.row()?.asked_about(fence, self.now, &self.rules.timing) {
                        Some(asked) => {
                            self.purchase = Some(asked);
                            ResolveInput::MayAsk
                        }
                        None => ResolveInput::MayNotAsk,
                    }
                }
                ResolveCommand::Claim => {
                    self.says("retry: claim");
                    if self.record(Event::Claimed)? {
                        ResolveInput::Claimed { lifecycle: self.row()?.clone(), at: self.now }
                    } else {
                        ResolveInput::NotClaimed
                    }
                }
                ResolveCommand::Enquire => {
                    self.says("retry: enquire");
                    let vend = self.vends.first().cloned();
                    let enquiry = vend.map_or(Enquiry::NoRecord, |vend| Enquiry::Vended(Box::new(vend)));
                    // The claim before it was made now.
                    ResolveInput::Enquired { enquiry, asked_at: self.now }
                }
                ResolveCommand::Record(event) => {
                    self.says(&format!("retry: record {}", event.kind().as_str()));
                    self.record(event)?;
                    ResolveInput::Recorded { lifecycle: self.row()?.clone(), at: self.now }
                }
                ResolveCommand::RecordRepeat(_)
                | ResolveCommand::RecordAttempt(_)
                | ResolveCommand::Send { .. } => {
                    return Err("nothing is declared about the provider, so nothing is sent again".into());
                }
                ResolveCommand::Answer(answer) => {
                    let state = self.row()?.state.name();
                    self.says(&format!("retry: answer {answer:?}, {}", state.as_str()));
                    return Ok(answer);
                }
            };
            command = protocol.on(input)?;
        }
    }

    fn provider_vends(&mut self) -> Result<(), Box<dyn Error>> {
        self.vends.push(Vend {
            tokens: Some(TokenSet::parse("0808 6259 4989 7426 3587")?),
            units: None,
            provider_transaction: format!("T{}", self.vends.len()),
            breakdown: None,
            subscriber_details: None,
            raw_reply: RawReply::default(),
        });
        Ok(())
    }

    fn row(&self) -> Result<&Lifecycle, &'static str> {
        self.purchase.as_ref().ok_or("nothing was reserved")
    }

    fn says(&mut self, line: &str) {
        let _infallible = writeln!(self.page, "{line}");
    }
}

/// What happens, line by line.
pub fn page() -> Result<String, Box<dyn Error>> {
    let mut shop = Shop::open()?;
    shop.confirm()?;
    // The buyer knows nothing, and confirms the same reservation again. It is not sent again.
    shop.confirm()?;
    shop.now += TimeDelta::seconds(5);
    shop.retry()?;
    shop.retry()?;
    let (posted, held) = (shop.wallet.posted(), shop.wallet.held());
    shop.says(&format!("vends {}, wallet {posted}, held {held}", shop.vends.len()));
    Ok(shop.page)
}

#[expect(clippy::print_stdout, reason = "an example shows what it computes")]
#[cfg_attr(test, expect(dead_code, reason = "a test uses only the page"))]
fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", page()?);
    Ok(())
}

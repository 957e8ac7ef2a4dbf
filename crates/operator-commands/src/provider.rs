//! `vendctl provider`: the providers, the declarations that decide how doubt about their vends may end, their pauses and breakers.

use std::time::Duration;

use back_office::{ActKind, NewRequest, RequestSubject};
use catalogue::{Declaration, ListedBreaker, ListedFloat, ListedPause, ListedProvider};
use clap::{ArgAction, Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};
use store::UnavailableProvider;
use vend::Capabilities;

use crate::{
    approvals,
    arguments::Why,
    care::Care,
    error::VendctlError,
    parse,
    payout::{PayProvider, ReversePayout},
    report::{Report, Row, yes},
    session::Session,
    words,
};

mod breaker;
mod float;
mod pause;
mod unavailable;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the providers, the declarations about their connections, their pauses, and confirms refused because they do not answer
    #[command(after_help = "Example:\n  vendctl provider list")]
    List,
    /// Show one provider
    #[command(after_help = "Example:\n  vendctl provider show BPC")]
    Show {
        /// Its code
        #[arg(value_parser = parse::provider_code)]
        code: String,
    },
    /// Record a payment to a provider: of what it is owed, or in advance
    #[command(
        after_help = "Example:\n  vendctl provider pay BPC 1000000.00 --currency BWP --id BANK-20261130-1 --reason \"November\""
    )]
    Pay(PayProvider),
    /// Undo one payment to a provider, once, by the number of its journal entry
    #[command(
        after_help = "The same amount goes back between the same accounts. A reversal is not reversed: enter the payment \
                      again.\n\nExample:\n  vendctl provider reverse-payment 4711 --reason \"a zero too many\""
    )]
    ReversePayment(ReversePayout),
    /// Stop the sales of a provider, at once or later; what is open already is settled as always
    #[command(
        after_help = "No server reserves a purchase of the provider once this command has ended. A confirm that was reserved \
                      before may still be sent for a few seconds. Moments are in the time zone of the settings, unless they \
                      have an offset.\n\nExamples:\n  vendctl provider pause BPC --until \"2026-11-20 14:00\" --notice \"Maintenance at \
                      BPC\" --reason \"their mail of Monday\"\n  vendctl provider pause RELOADLY --product airtime --from \
                      \"2026-11-21 01:00\" --until \"2026-11-21 03:00\" --reason \"their mail of Monday\""
    )]
    Pause(pause::Pause),
    /// Let the sales of a provider go on
    #[command(
        after_help = "Without --pause every pause in force ends, and those that are still to come stay. A server sells again within \
                      5 seconds (vending.catalogue_reuse_ms of its settings), and answers 502 provider_unavailable until \
                      then.\n\nExamples:\n  \
                      vendctl provider resume BPC --reason \"they are back\"\n  vendctl provider resume BPC --pause 3 --reason \
                      \"their maintenance is put off\""
    )]
    Resume(pause::Resume),
    /// Enter a provider, or change its name and declarations; settings that are not named stay unchanged
    #[command(
        after_help = "Money depends on these declarations. Switch one on only if the vendor has confirmed it, and name \
                      the confirmation in --reason. Address and credentials of the connection are settings of the \
                      servers, under the same code.\n\nExample:\n  vendctl provider declare BPC --name \"Botswana Power \
                      Corporation\" --repeat-is-safe on --reason \"their letter of 12 May\""
    )]
    Declare(Declare),
    /// Have the sales of a provider paused when it answers nothing, until it answers again
    #[command(
        after_help = "What is open is settled as always. Calls of all servers and workers count; a second silence about the same \
                      subscriber within a minute does not. Soon after a pause a quarter of the calls is enough for the next one, and it \
                      is twice as long, up to 15 minutes. A pause that an operator has entered is never ended by \
                      it.\n\nExamples:\n  vendctl provider breaker BPC --trial 04040404040 --reason \"our shop is small: see the \
                      runbook\"\n  vendctl provider breaker BPC --silent-percent 80 --calls 50 --within 2m --pause 5m --reason \"too \
                      nervous\"\n  vendctl provider breaker BPC --off --reason \"they asked us to\""
    )]
    Breaker(breaker::Declare),
    /// Set the limit below which our float at a provider is low, so that an alert begins
    #[command(
        after_help = "The float is what is left of the money that we have prepaid. The worker asks for it where the protocol \
                      has it; `provider show` shows the last answer.\n\nExamples:\n  vendctl provider float-limit MASCOM 5000.00 \
                      --currency BWP --reason \"two days of sales\"\n  vendctl provider float-limit MASCOM --off --currency BWP \
                      --reason \"postpaid from May on\""
    )]
    FloatLimit(float::FloatLimit),
    /// Switch the retry endpoint on or off for the purchases of a provider
    #[command(
        after_help = "Example:\n  vendctl provider retries BPC off --reason \"they asked for quiet until noon\""
    )]
    Retries {
        /// Its code
        #[arg(value_parser = parse::provider_code)]
        code: String,
        /// Whether the retry endpoint may settle its purchases
        #[arg(action = ArgAction::Set, value_parser = words::switch())]
        switch: bool,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Declare {
    /// Its code in the API, and the name of its connection in the servers' settings
    #[arg(value_parser = parse::provider_code)]
    code: String,
    /// Its display name; a new provider needs one
    #[arg(long, value_parser = parse::name)]
    name: Option<String>,
    /// The provider answers a repeated reference from memory or rejects it, and never vends it again
    #[arg(long, value_name = "SWITCH", value_parser = words::switch())]
    repeat_is_safe: Option<bool>,
    /// An enquiry reports refusals too, so that one refusal after several copies holds for all of them
    #[arg(long, value_name = "SWITCH", value_parser = words::switch())]
    remembers_refusals: Option<bool>,
    /// Two "no record" answers, far enough apart and late enough, prove that nothing was vended
    #[arg(long, value_name = "SWITCH", value_parser = words::switch())]
    not_found_counts: Option<bool>,
    /// How long after an order was sent the provider may still act on it; the default is 10m
    #[arg(long, value_name = "DURATION", value_parser = parse::settling)]
    settles_within: Option<Duration>,
    /// How many of its purchases all workers together may have in hand, and so how many requests they make of it at a time;
    /// the default is 64
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    worker_slots: Option<u16>,
    #[command(flatten)]
    care: Care,
    #[command(flatten)]
    why: Why,
}

#[derive(Serialize)]
struct View {
    code: String,
    name: String,
    retries: bool,
    repeat_is_safe: bool,
    remembers_refusals: bool,
    not_found_counts: bool,
    settles_within_s: u64,
    worker_slots: u16,
    pauses: Vec<pause::View>,
    breaker: Option<breaker::View>,
    floats: Vec<float::View>,
    unavailable: Option<unavailable::View>,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List => {
            let providers = catalogue::list_providers(session.database()).await?;
            let state = State::read(session).await?;
            let views = providers.into_iter().map(|provider| View::of(provider, &state));
            Ok(Report::list(&views.collect::<Vec<_>>()))
        }
        Verb::Show { code } => show(session, code).await,
        Verb::Pay(pay) => pay.run(session).await,
        Verb::ReversePayment(reverse) => reverse.run(session).await,
        Verb::Pause(pause) => pause.run(session).await,
        Verb::Resume(resume) => resume.run(session).await,
        Verb::Breaker(declare) => declare.run(session).await,
        Verb::FloatLimit(limit) => limit.run(session).await,
        Verb::Declare(declare) => declare.run(session).await,
        Verb::Retries { code, switch, why } => {
            let set =
                catalogue::set_provider_retries(session.database(), code.clone(), *switch, session.act(why))
                    .await;
            set.map_err(|error| VendctlError::NoProvider(code.clone()).if_absent(error))?;
            show(session, code).await
        }
    }
}

impl Declare {
    async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let found = self.find(session).await?;
        let changes = self.changes(found.as_ref());
        let needs_approval =
            changes && back_office::needs_approval(session.database(), ActKind::Declare, 1).await?;
        let request = needs_approval.then(|| NewRequest {
            kind: ActKind::Declare,
            arguments: self.arguments(),
            token: None,
        });
        // Its name and its worker slots contradict no request.
        if changes {
            let about = RequestSubject::Provider(self.code.clone());
            approvals::refuse_past_another(session, about, request.as_ref()).await?;
        }
        let would_be = self.declared(found);
        if self.care.dry_run {
            let report = Report::one(&View::of(would_be, &State::read(session).await?)).noting(REHEARSED);
            return Ok(report.noting_any(needs_approval.then_some(approvals::WOULD_ASK)));
        }
        if let Some(request) = request {
            return approvals::request(session, request, session.act(&self.why)).await;
        }
        let declaration = Declaration {
            name: self.name.clone(),
            repeat_is_safe: self.repeat_is_safe,
            remembers_refusals: self.remembers_refusals,
            not_found_counts: self.not_found_counts,
            settles_within: self.settles_within,
            worker_slots: self.worker_slots,
        };
        let declared = catalogue::declare_provider(
            session.database(),
            self.code.clone(),
            declaration,
            session.act(&self.why),
        )
        .await;
        let nameless = |error| VendctlError::NamelessProvider(self.code.clone()).if_absent(error);
        declared.map_err(nameless)?;
        show(session, &self.code).await
    }

    /// The provider as it is, or [`VendctlError::NamelessProvider`] if it is new and gets no name.
    async fn find(&self, session: &Session) -> Result<Option<ListedProvider>, VendctlError> {
        let providers = catalogue::list_providers(session.database()).await?;
        let found = providers.into_iter().find(|provider| provider.code == self.code);
        if found.is_none() && self.name.is_none() {
            return Err(VendctlError::NamelessProvider(self.code.clone()));
        }
        Ok(found)
    }

    /// Whether what the connection is declared to do in doubt becomes something else.
    fn changes(&self, provider: Option<&ListedProvider>) -> bool {
        let now = provider.map_or_else(Capabilities::default, |provider| provider.declared);
        self.declared_after(now) != now
    }

    fn declared_after(&self, now: Capabilities) -> Capabilities {
        Capabilities {
            repeat_is_safe: self.repeat_is_safe.unwrap_or(now.repeat_is_safe),
            remembers_refusals: self.remembers_refusals.unwrap_or(now.remembers_refusals),
            not_found_counts: self.not_found_counts.unwrap_or(now.not_found_counts),
            settles_within: self.settles_within.unwrap_or(now.settles_within),
        }
    }

    /// The provider as it will be.
    fn declared(&self, now: Option<ListedProvider>) -> ListedProvider {
        let now = now.unwrap_or_else(|| ListedProvider {
            code: self.code.clone(),
            name: String::new(),
            retries_enabled: true,
            declared: Capabilities::default(),
            worker_slots: 64,
        });
        ListedProvider {
            name: self.name.clone().unwrap_or(now.name),
            declared: self.declared_after(now.declared),
            worker_slots: self.worker_slots.unwrap_or(now.worker_slots),
            ..now
        }
    }

    /// What the database is to declare when it is approved.
    fn arguments(&self) -> Value {
        json!({
            "code": self.code,
            "name": self.name,
            "repeat_is_safe": self.repeat_is_safe,
            "remembers_refusals": self.remembers_refusals,
            "not_found_counts": self.not_found_counts,
            "settles_within_s": self.settles_within.map(|length| length.as_secs()),
            "worker_slots": self.worker_slots,
        })
    }
}

const REHEARSED: &str = "This was a rehearsal. Nothing was declared.";

async fn show(session: &Session, code: &str) -> Result<Report, VendctlError> {
    let provider = find(session, code).await?;
    Ok(Report::one(&View::of(provider, &State::read(session).await?)))
}

/// The provider of this code, or [`VendctlError::NoProvider`].
pub(crate) async fn find(session: &Session, code: &str) -> Result<ListedProvider, VendctlError> {
    let providers = catalogue::list_providers(session.database()).await?;
    let found = providers.into_iter().find(|provider| provider.code == code);
    found.ok_or_else(|| VendctlError::NoProvider(code.to_owned()))
}

/// What is shown of all providers beside their declarations.
struct State {
    pauses: Vec<ListedPause>,
    breakers: Vec<ListedBreaker>,
    floats: Vec<ListedFloat>,
    unavailable: Vec<UnavailableProvider>,
}

impl State {
    async fn read(session: &Session) -> Result<Self, VendctlError> {
        Ok(Self {
            pauses: catalogue::list_pauses(session.database()).await?,
            breakers: catalogue::list_breakers(session.database()).await?,
            floats: catalogue::list_floats(session.database()).await?,
            unavailable: session.store.list_unavailable_providers().await?,
        })
    }
}

impl View {
    fn of(listed: ListedProvider, state: &State) -> Self {
        Self {
            pauses: pause::of(&state.pauses, &listed.code),
            breaker: breaker::of(&state.breakers, &listed.code),
            floats: float::of(&state.floats, &listed.code),
            unavailable: unavailable::of(&state.unavailable, &listed.code),
            code: listed.code,
            name: listed.name,
            retries: listed.retries_enabled,
            repeat_is_safe: listed.declared.repeat_is_safe,
            remembers_refusals: listed.declared.remembers_refusals,
            not_found_counts: listed.declared.not_found_counts,
            settles_within_s: listed.declared.settles_within.as_secs(),
            worker_slots: listed.worker_slots,
        }
    }
}

/// What integrators are told while a pause is in force, or while the breaker is open. A pause that is over, and a breaker that has
/// closed, tell them nothing.
fn notices(pauses: &[pause::View], breaker: Option<&breaker::View>) -> String {
    let of_pauses = pauses.iter().filter_map(pause::View::told);
    let told: Vec<String> = of_pauses.chain(breaker.and_then(breaker::View::told)).collect();
    if told.is_empty() { "-".to_owned() } else { told.join("; ") }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "code",
        "name",
        "does not answer",
        "retries",
        "repeat is safe",
        "remembers refusals",
        "not found counts",
        "settles within",
        "worker slots",
        "paused",
        "breaker",
        "notice",
        "float",
    ];
    const MOMENTS: &'static [&'static str] = &["does not answer", "paused", "breaker"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.code.clone(),
            self.name.clone(),
            unavailable::cell(self.unavailable.as_ref()),
            yes(self.retries),
            yes(self.repeat_is_safe),
            yes(self.remembers_refusals),
            yes(self.not_found_counts),
            humantime::format_duration(Duration::from_secs(self.settles_within_s)).to_string(),
            self.worker_slots.to_string(),
            pause::cell(&self.pauses),
            breaker::cell(self.breaker.as_ref()),
            notices(&self.pauses, self.breaker.as_ref()),
            float::cell(&self.floats),
        ]
    }
}

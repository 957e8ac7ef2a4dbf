//! Providers, and their pauses.

use actix_web::web::Path;
use maud::{Markup, html};
use operator_commands::Report;

use super::{Page, rehearsed_act::RehearsedAct, run, shown};
use crate::{
    fields::{Field, choice},
    layout,
    render::{self, nowhere, to_providers},
    text::Text,
    visit::{Posted, Visit},
    words::Words,
};

const PRODUCTS: [(&str, Text); 4] = [
    ("", Text::EveryProduct),
    ("electricity", Text::Electricity),
    ("water", Text::Water),
    ("airtime", Text::Airtime),
];

const BREAKER: [(&str, Text); 2] = [("on", Text::BreakerOn), ("off", Text::BreakerOff)];

pub(super) async fn list(visit: Visit) -> Page {
    let content = shown(&visit, Words::of("provider list"), Text::Providers, to_providers).await;
    Ok(layout::page(&visit, "/providers", &visit.translator().text(Text::Providers), &content))
}

pub(super) async fn show(visit: Visit, code: Path<String>) -> Page {
    let report = run(&visit, Words::of("provider show").value(&code)).await?;
    let translator = visit.translator();
    let content = html! {
        (render::report(translator, &report, Text::TheProvider, nowhere))
        (pause_form(&visit, &code))
        (resume_form(&visit, &code))
        (breaker_form(&visit, &code, &BreakerValues::of(&report)))
    };
    let title = translator.text_with(Text::ProviderTitle, &[("code", &code)]);
    Ok(layout::page(&visit, "/providers", &title, &content))
}

pub(super) async fn pause(posted: Posted, code: Path<String>) -> Page {
    let words = Words::of("provider pause")
        .value(&code)
        .option("product", posted.field("product"))
        .option("from", posted.field("from"))
        .option("until", posted.field("until"))
        .option("notice", posted.field("notice"))
        .option("reason", posted.field("reason"));
    let act = Act { words, asks: true, form: "pause", title: Text::PauseTitle, button: Text::PauseFinally };
    act.page(&posted, &code).await
}

pub(super) async fn resume(posted: Posted, code: Path<String>) -> Page {
    let words = Words::of("provider resume")
        .value(&code)
        .option("pause", posted.field("pause"))
        .option("reason", posted.field("reason"));
    let act =
        Act { words, asks: true, form: "resume", title: Text::ResumeTitle, button: Text::ResumeFinally };
    act.page(&posted, &code).await
}

pub(super) async fn breaker(posted: Posted, code: Path<String>) -> Page {
    let words = Words::of("provider breaker").value(&code).option("reason", posted.field("reason"));
    let words = if posted.field("breaker") == "off" {
        words.switch("off")
    } else {
        let trial = posted.field("trial");
        let trial_product = if trial.trim().is_empty() { "" } else { posted.field("trial_product") };
        words
            .option("silent-percent", posted.field("silent_percent"))
            .option("calls", posted.field("calls"))
            .option("within", posted.field("within"))
            .option("pause", posted.field("pause"))
            .option("notice", posted.field("notice"))
            .option("trial", trial)
            .option("trial-product", trial_product)
    };
    let act =
        Act { words, asks: true, form: "breaker", title: Text::BreakerTitle, button: Text::BreakerFinally };
    act.page(&posted, &code).await
}

/// An act about a provider.
struct Act {
    words: Words,
    asks: bool,
    /// The last part of the address of its form.
    form: &'static str,
    title: Text,
    button: Text,
}

impl Act {
    async fn page(self, posted: &Posted, code: &str) -> Page {
        let rehearsed = RehearsedAct {
            words: self.words,
            asks: self.asks,
            address: &format!("/providers/{code}/{}", self.form),
            afterwards: Some(&format!("/providers/{code}")),
            menu: "/providers",
            title: &posted.visit.translator().text_with(self.title, &[("code", code)]),
            caption: Text::TheProvider,
            button: self.button,
        };
        rehearsed.page(posted).await
    }
}

/// What the fields of a breaker hold: what is in force, because the form replaces all of it.
#[derive(Default)]
struct BreakerValues {
    silent_percent: String,
    calls: String,
    within: String,
    pause: String,
    notice: String,
    trial: String,
    trial_product: String,
}

impl BreakerValues {
    /// From the data of `provider show`. Empty if no breaker is declared.
    fn of(provider: &Report) -> Self {
        let field = |name: &str| provider.data().pointer(&format!("/breaker/{name}"));
        let number = |name: &str| field(name)?.as_u64().map(|number| number.to_string());
        let text = |name: &str| field(name).and_then(|text| text.as_str()).unwrap_or_default().to_owned();
        let seconds = |name: &str| number(name).map(|seconds| format!("{seconds}s")).unwrap_or_default();
        Self {
            silent_percent: number("silent_percent").unwrap_or_default(),
            calls: number("calls").unwrap_or_default(),
            within: seconds("within_s"),
            pause: seconds("pause_s"),
            notice: text("notice"),
            trial: text("trial"),
            trial_product: text("trial_product").to_lowercase(),
        }
    }
}

fn breaker_form(visit: &Visit, code: &str, now: &BreakerValues) -> Markup {
    let translator = visit.translator();
    // A trial is of one product.
    let [_every, trials @ ..] = &PRODUCTS;
    let fields = [
        Field::of("silent_percent", Text::SilentPercent)
            .hint(Text::SilentPercentHint)
            .value(&now.silent_percent),
        Field::of("calls", Text::BreakerCalls).hint(Text::BreakerCallsHint).value(&now.calls),
        Field::of("within", Text::BreakerWithin).hint(Text::BreakerWithinHint).value(&now.within),
        Field::of("pause", Text::BreakerPause).hint(Text::BreakerPauseHint).value(&now.pause),
        Field::of("notice", Text::Notice).hint(Text::NoticeHint).value(&now.notice),
        Field::of("trial", Text::Trial).hint(Text::TrialHint).value(&now.trial),
    ];
    let trial_product = if now.trial_product.is_empty() { "electricity" } else { &now.trial_product };
    let fields = html! {
        (choice(translator, ("breaker", Text::TheBreaker), &BREAKER, "on"))
        @for field in fields { (field.in_form("breaker-").html(translator)) }
        (choice(translator, ("trial_product", Text::TrialProduct), trials, trial_product))
        (Field::reason().in_form("breaker-").html(translator))
    };
    let title = translator.text_with(Text::BreakerTitle, &[("code", code)]);
    form(visit, code, "breaker", (&title, Text::BreakerNote), &fields)
}

fn pause_form(visit: &Visit, code: &str) -> Markup {
    let translator = visit.translator();
    let fields = html! {
        (choice(translator, ("product", Text::Product), &PRODUCTS, ""))
        (Field::of("from", Text::From).hint(Text::FromHint).html(translator))
        (Field::of("until", Text::Until).hint(Text::PauseUntilHint).html(translator))
        (Field::of("notice", Text::Notice).hint(Text::NoticeHint).html(translator))
        (Field::reason().in_form("pause-").html(translator))
    };
    form(visit, code, "pause", (&translator.text(Text::PauseTitle), Text::PauseNote), &fields)
}

fn resume_form(visit: &Visit, code: &str) -> Markup {
    let translator = visit.translator();
    let fields = html! {
        (Field::of("pause", Text::PauseNumber).hint(Text::PauseNumberHint).html(translator))
        (Field::reason().in_form("resume-").html(translator))
    };
    form(visit, code, "resume", (&translator.text(Text::ResumeTitle), Text::ResumeNote), &fields)
}

fn form(visit: &Visit, code: &str, verb: &str, (title, note): (&str, Text), fields: &Markup) -> Markup {
    let (command, address) = (format!("provider {verb}"), format!("/providers/{code}/{verb}"));
    layout::act_form(visit, &command, &address, (title, note, Text::Rehearse), fields)
}

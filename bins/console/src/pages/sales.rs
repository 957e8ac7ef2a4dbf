//! What was sold, as bars and as a table.

use actix_web::web::Query;
use chrono::NaiveDate;
use maud::{Markup, html};
use operator_commands::Report;
use serde::Deserialize;

use super::{Page, run};
use crate::{
    chart::{Bar, Chart, Kind},
    fields::{Field, choice},
    layout,
    page_error::PageError,
    render::{self, nowhere},
    text::Text,
    translator::Translator,
    visit::Visit,
    words::Words,
};

const BY: [(&str, Text); 7] = [
    ("day", Text::ByDay),
    ("product", Text::ByProduct),
    ("provider", Text::ByProvider),
    ("organisation", Text::ByOrganisation),
    ("day,product", Text::ByDayAndProduct),
    ("day,provider", Text::ByDayAndProvider),
    ("day,organisation", Text::ByDayAndOrganisation),
];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    date: String,
    to: String,
    by: String,
    organisation: String,
}

/// A line of the report.
#[derive(Deserialize)]
struct Line {
    day: Option<String>,
    organisation: Option<String>,
    provider: Option<String>,
    product: Option<String>,
    environment: String,
    currency: String,
    total_hundredths: i64,
}

pub(super) async fn show(visit: Visit, asked: Query<Asked>) -> Page {
    let translator = visit.translator();
    let by = if asked.by.is_empty() { "day" } else { &asked.by };
    let fields = [
        Field::of("date", Text::FirstDay).hint(Text::FirstDayHint).value(&asked.date).required(),
        Field::of("to", Text::LastDay).hint(Text::LastDayHint).value(&asked.to),
        Field::of("organisation", Text::Organisation).hint(Text::CodeOrAllHint).value(&asked.organisation),
    ];
    let report = if asked.date.trim().is_empty() { None } else { Some(run(&visit, asked.words(by)).await) };
    let content = html! {
        @if visit.may("report sales") {
            form class="fields" method="get" action="/sales" {
                @for field in fields { (field.html(translator)) }
                (choice(translator, ("by", Text::LineForEach), &BY, by))
                button { (translator.text(Text::Show)) }
            }
        } @else {
            p { (translator.text(Text::NotOfYourRole)) }
        }
        @if let Some(report) = report {
            h2 { (translator.text(Text::Sales)) }
            (asked.pictured(translator, by, report))
        }
    };
    Ok(layout::page(&visit, "/sales", &translator.text(Text::Sales), &content))
}

impl Asked {
    fn words(&self, by: &str) -> Words {
        Words::of("report sales")
            .option("date", &self.date)
            .option("to", &self.to)
            .option("by", by)
            .option("organisation", &self.organisation)
    }

    fn pictured(&self, translator: Translator, by: &str, report: Result<Report, PageError>) -> Markup {
        match report {
            Ok(report) => html! {
                @for chart in charts(&report, by, &self.days()) { (chart.html(translator)) }
                (render::report(translator, &report, Text::Sales, nowhere))
            },
            Err(error) => error.sentence(),
        }
    }

    /// All days that were asked for: a day without sales is in the picture, too.
    fn days(&self) -> Vec<String> {
        let day = |text: &str| text.trim().parse::<NaiveDate>().ok();
        let Some(first) = day(&self.date) else { return Vec::new() };
        let last = day(&self.to).unwrap_or(first);
        first.iter_days().take_while(|day| *day <= last).map(|day| day.to_string()).collect()
    }
}

/// One chart for each currency, environment, and value of the second division. None for a single bar.
fn charts(report: &Report, by: &str, days: &[String]) -> Vec<Chart> {
    let lines = Vec::<Line>::deserialize(report.data()).unwrap_or_default();
    let (axis, apart) = by.split_once(',').unwrap_or((by, ""));
    let kind = if axis == "day" { Kind::Days } else { Kind::Names };
    let mut charts: Vec<Chart> = Vec::new();
    for line in &lines {
        let of = match line.part(apart) {
            "" => format!("{}, {}", line.currency, line.environment),
            part => format!("{}, {}, {part}", line.currency, line.environment),
        };
        let at = charts.iter().position(|chart| chart.of == of).unwrap_or_else(|| {
            charts.push(Chart::empty(of, line.currency.clone(), kind, days));
            charts.len().saturating_sub(1)
        });
        if let Some(chart) = charts.get_mut(at) {
            chart.add(line.part(axis), line.total_hundredths);
        }
    }
    charts.sort_by(|one, other| one.of.cmp(&other.of));
    charts.retain(|chart| chart.bars.len() > 1);
    charts
}

impl Line {
    /// What the line is of in a division. Empty if there is none.
    fn part(&self, division: &str) -> &str {
        let part = match division {
            "day" => &self.day,
            "organisation" => &self.organisation,
            "provider" => &self.provider,
            "product" => &self.product,
            _ => &None,
        };
        part.as_deref().unwrap_or_default()
    }
}

impl Chart {
    fn empty(of: String, currency: String, kind: Kind, days: &[String]) -> Self {
        let days = if kind == Kind::Days { days } else { &[] };
        let bars = days.iter().map(|day| Bar { label: day.clone(), hundredths: 0 }).collect();
        Self { of, currency, kind, bars }
    }

    fn add(&mut self, label: &str, hundredths: i64) {
        match self.bars.iter_mut().find(|bar| bar.label == label) {
            Some(bar) => bar.hundredths = bar.hundredths.saturating_add(hundredths),
            None => self.bars.push(Bar { label: label.to_owned(), hundredths }),
        }
    }
}

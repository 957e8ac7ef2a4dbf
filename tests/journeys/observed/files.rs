//! The operator's files match the programs: alerts, dashboards, the table of metrics, the runbook.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
    sync::{Arc, Mutex},
};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use sandbox::Process;
use serde::Deserialize;
use serde_json::Value;
use tokio::runtime::Handle;

use super::{
    buy_with_every_outcome,
    numbers::{Numbers, family},
    watched::{Watched, undisturbed, watched},
};
use crate::env::{env, eventually};

/// Metrics that Prometheus itself adds for every target.
const OF_PROMETHEUS: [&str; 1] = ["up"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    groups: Vec<Group>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    name: String,
    rules: Vec<Alert>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Alert {
    #[serde(rename = "alert")]
    name: String,
    expr: String,
    #[serde(default, rename = "for")]
    lasting: Option<String>,
    labels: Labels,
    annotations: Annotations,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Labels {
    severity: Severity,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Page,
    Ticket,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Annotations {
    summary: String,
    runbook: String,
}

fn file(name: &str) -> String {
    let path = format!("{}/../docs/operations/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(path).unwrap()
}

fn alerts() -> Vec<Alert> {
    let rules: RuleFile = serde_saphyr::from_str(&file("alerts.yml")).unwrap();
    assert!(rules.groups.iter().all(|group| group.name.starts_with("vendgate-")), "{rules:?}");
    rules.groups.into_iter().flat_map(|group| group.rules).collect()
}

/// The dashboards. The rules of the workspace compare each label and word with the table of metrics.
const DASHBOARDS: [&str; 4] = ["database", "doubt", "money", "selling"];

/// All expressions of a dashboard.
fn panels(dashboard: &Value, found: &mut Vec<String>) {
    match dashboard {
        Value::Object(members) => {
            found.extend(members.get("expr").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| panels(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| panels(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The words of an expression: names of metrics and labels among them.
fn words(expression: &str) -> impl Iterator<Item = &str> {
    expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
}

fn names(expression: &str) -> BTreeSet<String> {
    let of_prometheus = words(expression).filter(|word| OF_PROMETHEUS.contains(word));
    let ours = words(expression).filter(|word| word.starts_with("vendgate_"));
    ours.chain(of_prometheus).map(|name| family(name).to_owned()).collect()
}

/// What the worker exports when each of its periodic tasks has run.
async fn all_numbers_of(worker: &Process) -> BTreeMap<String, BTreeSet<String>> {
    let mut told = BTreeMap::new();
    eventually("the worker has finished its periodic checks", async || {
        told = Numbers::of(worker).await.names();
        [
            "vendgate_checked_timestamp_seconds",
            "vendgate_counted_timestamp_seconds",
            "vendgate_database_megabytes",
            "vendgate_breaker_open",
            "vendgate_wallets_low",
            "vendgate_provider_float_low",
        ]
        .iter()
        .all(|name| told.contains_key(*name))
    })
    .await;
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alerts_and_dashboards_use_only_exported_metrics_with_documented_labels() {
    let server = env().another_api_server("server-that-is-scraped");
    let unsold = Numbers::of(&server).await;
    let merchant = env().open_merchant().await;
    buy_with_every_outcome(&merchant.calling(server.url())).await;
    let engine = Handle::current();
    let watching = tokio::task::spawn_blocking(move || {
        let (Watched { worker, .. }, _turn) = (watched(), undisturbed());
        (worker, engine.block_on(all_numbers_of(worker)))
    });
    let (worker, mut told) = watching.await.unwrap();
    for (name, labels) in Numbers::of(&server).await.names() {
        told.entry(name).or_default().extend(labels);
    }

    let (alerts, of_the_worker) = (alerts(), Numbers::of(worker).await);
    for (counter, labels) in alerts.iter().flat_map(|alert| counted(&alert.expr)) {
        let has_zero = [&unsold, &of_the_worker].iter().any(|told| told.has(counter, &labels));
        assert!(
            has_zero,
            "the first {counter}{labels:?} after a start would not be seen: no program exports zero"
        );
    }
    let mut shown = Vec::new();
    for name in DASHBOARDS {
        panels(&serde_json::from_str(&file(&format!("dashboards/{name}.json"))).unwrap(), &mut shown);
    }
    assert!(alerts.len() > 15 && shown.len() > 60, "{} alerts, {} panels", alerts.len(), shown.len());
    // A panel may also show what has not happened here. The programs describe it all the same, as another test compares.
    let documented: BTreeSet<String> = table().into_iter().map(|row| row.name).collect();
    let alerts = alerts.iter().map(|alert| (&alert.expr, None));
    for (expression, documented) in alerts.chain(shown.iter().map(|query| (query, Some(&documented)))) {
        let names = names(expression);
        assert!(!names.is_empty(), "{expression} uses no metric");
        let is_known = |name: &str| {
            told.contains_key(name)
                || OF_PROMETHEUS.contains(&name)
                || documented.is_some_and(|documented| documented.contains(name))
        };
        let unknown: Vec<&String> = names.iter().filter(|name| !is_known(name)).collect();
        assert!(unknown.is_empty(), "{expression} names {unknown:?}, which no program exports");
    }
    for row in table() {
        if let Some(labels) = told.get(&row.name) {
            assert_eq!(&row.labels, labels, "the labels of {}", row.name);
        }
    }
}

/// Names and values of labels.
type Selected<'a> = Vec<(&'a str, &'a str)>;

/// The counters whose increase an expression looks at, with the values of their labels. An increase begins at an exported zero. A
/// selector of several values (`=~"a|b"`) is one counter for each.
fn counted(expression: &str) -> Vec<(&str, Selected<'_>)> {
    let each = expression.split("increase(").skip(1).flat_map(|rest| {
        let (selector, _) = rest.split_once('[').unwrap();
        let (name, labels) = selector.split_once('{').unwrap_or((selector, ""));
        let labels = labels.trim_end_matches('}').split(',').filter_map(|label| label.split_once('='));
        labels
            .fold(vec![vec![]], |all, label| with_each_value(&all, label))
            .into_iter()
            .map(move |labels| (name, labels))
    });
    each.collect()
}

/// Each of these with each value of one more label.
fn with_each_value<'a>(all: &[Selected<'a>], (label, values): (&'a str, &'a str)) -> Vec<Selected<'a>> {
    let values = values.trim_start_matches('~').trim_matches('"');
    all.iter()
        .flat_map(|labels| values.split('|').map(|value| [&labels[..], &[(label, value)]].concat()))
        .collect()
}

/// A row of the table of metrics.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    name: String,
    kind: &'static str,
    meaning: String,
    labels: BTreeSet<String>,
}

fn table() -> Vec<Row> {
    let page = file("METRICS.md");
    let rows = page.lines().filter(|line| line.starts_with("| `vendgate_"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, kind, labels, meaning] = cells[..] else { panic!("{row}") };
        let labels =
            labels.split(", ").filter(|label| *label != "—").map(|label| label.trim_matches('`').to_owned());
        Row {
            name: name.trim_matches('`').to_owned(),
            kind: ["counter", "gauge", "histogram"].into_iter().find(|known| *known == kind).unwrap(),
            meaning: meaning.to_owned(),
            labels: labels.collect(),
        }
    })
    .collect()
}

/// Records the descriptions of all metrics.
#[derive(Clone, Default)]
struct DescriptionRecorder(Arc<Mutex<BTreeMap<String, (&'static str, String)>>>);

impl DescriptionRecorder {
    fn record(&self, name: &KeyName, kind: &'static str, meaning: &SharedString) {
        let mut recorded = self.0.lock().unwrap();
        let before = recorded.insert(name.as_str().to_owned(), (kind, meaning.to_string()));
        assert!(
            before.is_none_or(|before| before == (kind, meaning.to_string())),
            "{} has two descriptions",
            name.as_str()
        );
    }
}

impl Recorder for DescriptionRecorder {
    fn describe_counter(&self, name: KeyName, _unit: Option<Unit>, meaning: SharedString) {
        self.record(&name, "counter", &meaning);
    }

    fn describe_gauge(&self, name: KeyName, _unit: Option<Unit>, meaning: SharedString) {
        self.record(&name, "gauge", &meaning);
    }

    fn describe_histogram(&self, name: KeyName, _unit: Option<Unit>, meaning: SharedString) {
        self.record(&name, "histogram", &meaning);
    }

    fn register_counter(&self, _key: &Key, _metadata: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _key: &Key, _metadata: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _key: &Key, _metadata: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

#[test]
fn the_table_of_metrics_says_what_the_programs_say_about_them() {
    let recorder = DescriptionRecorder::default();
    metrics::with_local_recorder(&recorder, || {
        api_server::describe_metrics();
        retry_worker::describe_metrics();
    });
    let described = recorder.0.lock().unwrap().clone();
    let table: BTreeMap<String, (&str, String)> =
        table().into_iter().map(|row| (row.name, (row.kind, row.meaning))).collect();
    let wanted: Vec<String> = described
        .iter()
        .filter(|(name, said)| table.get(*name) != Some(*said))
        .map(|(name, (kind, meaning))| format!("| `{name}` | {kind} | … | {meaning} |"))
        .collect();
    assert!(wanted.is_empty(), "METRICS.md lacks:\n{}", wanted.join("\n"));
    let surplus: Vec<&String> = table.keys().filter(|name| !described.contains_key(*name)).collect();
    assert!(surplus.is_empty(), "METRICS.md has metrics that no program exports: {surplus:?}");
}

#[test]
fn every_alert_has_its_section_in_the_runbook_and_every_section_its_alert() {
    let (alerts, runbook) = (alerts(), file("RUNBOOK.md"));
    let sections: Vec<&str> = runbook.lines().filter_map(|line| line.strip_prefix("## Vendgate")).collect();
    let sections: Vec<String> = sections.into_iter().map(|rest| format!("Vendgate{rest}")).collect();
    let named: Vec<&str> = alerts.iter().map(|alert| alert.name.as_str()).collect();
    assert_eq!(sections, named, "in the order of alerts.yml");
    let pages = alerts.iter().filter(|alert| alert.labels.severity == Severity::Page).count();
    assert!(pages > 0 && pages < alerts.len(), "{pages} of {} alerts page the operator", alerts.len());
    for Alert { name, annotations, lasting, .. } in &alerts {
        assert_eq!(annotations.runbook, format!("docs/operations/RUNBOOK.md#{}", name.to_lowercase()));
        assert!(annotations.summary.len() > 20, "{name} has too short a summary");
        assert!(lasting.as_deref().is_none_or(|time| time.ends_with('m')), "{name}: {lasting:?}");
        let (_, section) = runbook.split_once(&format!("## {name}\n")).unwrap();
        let section = section.split("\n## ").next().unwrap();
        for part in ["**What it means.**", "**Look.**", "**Do.**", "**Never.**"] {
            assert!(section.contains(part), "the section of {name} lacks {part}");
        }
    }
}

#[test]
fn every_command_of_the_runbook_is_one_that_vendctl_knows() {
    let runbook = file("RUNBOOK.md");
    let commands: BTreeSet<&str> = runbook.lines().filter(|line| line.starts_with("vendctl ")).collect();
    assert!(commands.len() > 8, "{commands:?}");
    for command in commands {
        let line = command.split(" #").next().unwrap();
        let words = spoken(line.strip_prefix("vendctl ").unwrap());
        let vendctl = env!("CARGO_BIN_EXE_acceptance-vendctl");
        let run = Command::new(vendctl).args(words).env_clear().output().unwrap();
        // 2: no such command or argument. 1: the command was understood, but there is no database.
        assert_eq!(run.status.code(), Some(1), "{line}: {}", String::from_utf8_lossy(&run.stderr));
    }
}

/// The arguments of a command line. Quoted text is one argument.
fn spoken(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    parts
        .flat_map(|(place, part)| match place % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _quoted => vec![part.to_owned()],
        })
        .collect()
}

//! The dashboards for Grafana: files of its JSON model, whose panels show metrics of METRICS.md and say what they mean. Another test
//! compares METRICS.md with the programs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::source::{SourceFile, assert_none, files_named};

const DIRECTORY: &str = "docs/operations/dashboards/";

/// The members of a dashboard, of a panel and of a row that Grafana's JSON model knows and a dashboard here may use.
const OF_A_DASHBOARD: &[&str] = &[
    "title",
    "uid",
    "description",
    "schemaVersion",
    "version",
    "editable",
    "graphTooltip",
    "refresh",
    "tags",
    "time",
    "timezone",
    "links",
    "templating",
    "annotations",
    "panels",
];
const OF_A_PANEL: &[&str] =
    &["id", "type", "title", "description", "datasource", "gridPos", "fieldConfig", "options", "targets"];
const OF_A_ROW: &[&str] = &["id", "type", "title", "collapsed", "gridPos", "panels"];

/// The first version of the model whose panels and data sources have this form: that of Grafana 10.
const SCHEMA_VERSION_MIN: u64 = 38;

/// How many columns the grid has.
const COLUMNS: u64 = 24;

/// The units that panels use, by Grafana's names: a number, events in a second, requests in a second, seconds, MiB, a part of one.
const UNITS: [&str; 6] = ["short", "ops", "reqps", "s", "mbytes", "percentunit"];

/// A metric of Prometheus itself, and the labels that it adds to every metric.
const OF_PROMETHEUS: &str = "up";
const LABELS_OF_PROMETHEUS: [&str; 3] = ["instance", "job", "le"];

/// The words of `PromQL` that a panel uses.
const WORDS: [&str; 9] =
    ["sum", "max", "min", "by", "rate", "increase", "histogram_quantile", "time", "__rate_interval"];

struct Board {
    path: String,
    model: Value,
}

fn boards() -> Vec<Board> {
    let files: Vec<SourceFile> =
        files_named(".json").into_iter().filter(|file| file.path.starts_with(DIRECTORY)).collect();
    let boards = files.into_iter().map(|file| {
        let model = serde_json::from_str(&file.text).expect("a dashboard is JSON");
        Board { path: file.path, model }
    });
    boards.collect()
}

impl Board {
    fn name(&self) -> &str {
        self.path.strip_prefix(DIRECTORY).expect("it was found there").trim_end_matches(".json")
    }

    fn panels(&self) -> Vec<&Value> {
        let all: Vec<&Value> = self
            .model
            .get("panels")
            .and_then(Value::as_array)
            .expect("a dashboard has panels")
            .iter()
            .collect();
        assert!(all.len() > 5, "{}", self.path);
        all
    }

    /// The panels that show something.
    fn shown(&self) -> impl Iterator<Item = &Value> {
        self.panels().into_iter().filter(|panel| panel["type"] != "row")
    }
}

fn unknown_members(of: &Value, known: &[&str]) -> Vec<String> {
    let members = of.as_object().expect("it is an object");
    members.keys().filter(|member| !known.contains(&member.as_str())).cloned().collect()
}

/// The left, right, upper and lower edge of a panel.
fn edges(panel: &Value) -> [u64; 4] {
    let side = |name| panel.get("gridPos").and_then(|grid| grid.get(name)).and_then(Value::as_u64);
    let [x, y, w, h] = ["x", "y", "w", "h"].map(|name| side(name).expect("a panel has a place"));
    [x, x + w, y, y + h]
}

fn overlap(one: &Value, other: &Value) -> bool {
    let ([left, right, top, bottom], [left2, right2, top2, bottom2]) = (edges(one), edges(other));
    left < right2 && left2 < right && top < bottom2 && top2 < bottom
}

#[test]
fn every_dashboard_is_a_file_of_grafanas_model() {
    let boards = boards();
    let names: Vec<&str> = boards.iter().map(Board::name).collect();
    assert_eq!(names, ["database", "doubt", "money", "selling"]);
    let mut broken = Vec::new();
    for board in &boards {
        let mut wrong = |what: String| broken.push(format!("{}: {what}", board.path));
        let model = &board.model;
        for member in unknown_members(model, OF_A_DASHBOARD) {
            wrong(format!("{member} is not in the model"));
        }
        if model["uid"] != format!("vendgate-{}", board.name()) {
            wrong("its uid is not its name".to_owned());
        }
        if model["schemaVersion"].as_u64().is_none_or(|version| version < SCHEMA_VERSION_MIN) {
            wrong("its schemaVersion is too old".to_owned());
        }
        let variable = &model["templating"]["list"][0];
        if (&variable["name"], &variable["type"], &variable["query"])
            != (&"datasource".into(), &"datasource".into(), &"prometheus".into())
        {
            wrong("its first variable does not choose the data source".to_owned());
        }
        let panels = board.panels();
        let ids: BTreeSet<u64> = panels.iter().filter_map(|panel| panel["id"].as_u64()).collect();
        if ids.len() != panels.len() || ids.contains(&0) {
            wrong("an id of its panels is missing or there twice".to_owned());
        }
        for (place, panel) in panels.iter().enumerate() {
            let [_left, right, top, bottom] = edges(panel);
            if right > COLUMNS || top >= bottom {
                wrong(format!("{} is not in the grid", panel["title"]));
            }
            for other in panels.iter().skip(place + 1).filter(|other| overlap(panel, other)) {
                wrong(format!("{} lies over {}", panel["title"], other["title"]));
            }
            let known = if panel["type"] == "row" { OF_A_ROW } else { OF_A_PANEL };
            for member in unknown_members(panel, known) {
                wrong(format!("{}: {member} is not in the model", panel["title"]));
            }
        }
    }
    assert_none(&broken, "Make these dashboards fit Grafana's JSON model:");
}

#[test]
fn every_panel_has_a_unit_a_description_and_the_chosen_data_source() {
    let runbook = files_named("docs/operations/RUNBOOK.md");
    let runbook = &runbook.first().expect("the runbook is there").text;
    let mut broken = Vec::new();
    for board in &boards() {
        for panel in board.shown() {
            let mut wrong = |what: &str| broken.push(format!("{}: {}: {what}", board.path, panel["title"]));
            if !["stat", "timeseries"].iter().any(|kind| panel["type"] == *kind) {
                wrong("its type is neither stat nor timeseries");
            }
            let said = panel["description"].as_str().unwrap_or_default();
            if said.len() < 20 || said.len() > 200 || said.contains('\n') || !said.ends_with('.') {
                wrong("its description is not one line of one or two sentences");
            }
            for alert in said.split(|c: char| !c.is_alphanumeric()).filter(|word| is_alert(word)) {
                if !runbook.contains(&format!("\n## {alert}\n")) {
                    wrong("it names an alert that is not in the runbook");
                }
            }
            let unit = panel["fieldConfig"]["defaults"]["unit"].as_str().unwrap_or_default();
            if !UNITS.contains(&unit) {
                wrong("its unit is not one of those that are used here");
            }
            let targets = panel["targets"].as_array().map(Vec::as_slice).unwrap_or_default();
            let names: BTreeSet<&str> =
                targets.iter().filter_map(|target| target["refId"].as_str()).collect();
            if names.len() != targets.len() || targets.is_empty() {
                wrong("its queries have no names of their own");
            }
            let sources = targets.iter().chain([panel]).map(|it| &it["datasource"]);
            if sources.into_iter().any(|source| {
                (&source["type"], &source["uid"]) != (&"prometheus".into(), &"${datasource}".into())
            }) {
                wrong("its data source is not the one that was chosen");
            }
            let many = targets.iter().filter(|target| target["expr"].as_str().is_some_and(has_series));
            let is_told =
                |target: &&Value| target["legendFormat"].as_str().is_some_and(|name| name.contains("{{"));
            // A number alone is about all series together.
            if panel["type"] == "timeseries" && !many.clone().all(|target| is_told(&target)) {
                wrong("a query with many series does not tell them apart");
            }
        }
    }
    assert_none(&broken, "Make each panel say what it shows:");
}

fn is_alert(word: &str) -> bool {
    word.len() > "Vendgate".len() && word.starts_with("Vendgate")
}

/// Whether a query has a series for each value of a label.
fn has_series(query: &str) -> bool {
    query.split("by (").skip(1).any(|rest| rest.split(')').next().is_some_and(|labels| labels.trim() != "le"))
}

#[test]
fn every_panel_asks_for_metrics_and_labels_that_are_documented() {
    let (metrics, mut broken) = (metrics(), Vec::new());
    let mut shown = BTreeSet::new();
    for board in &boards() {
        for panel in board.shown() {
            let targets = panel["targets"].as_array().map(Vec::as_slice).unwrap_or_default();
            for query in targets.iter().filter_map(|target| target["expr"].as_str()) {
                let used: Vec<&str> =
                    words(query).filter(|word| word.starts_with("vendgate_")).map(family).collect();
                let labels: BTreeSet<&str> = used
                    .iter()
                    .filter_map(|name| metrics.get(*name))
                    .flatten()
                    .map(String::as_str)
                    .chain(LABELS_OF_PROMETHEUS)
                    .collect();
                let known = |word: &&str| {
                    metrics.contains_key(family(word))
                        || labels.contains(word)
                        || WORDS.contains(word)
                        || *word == OF_PROMETHEUS
                };
                broken.extend(words(query).filter(|word| !known(word)).map(|word| {
                    format!(
                        "{}: {}: {word} is no metric, and no label of its metrics",
                        board.path, panel["title"]
                    )
                }));
                shown.extend(used.into_iter().map(str::to_owned));
            }
        }
    }
    assert_none(&broken, "Let the panels ask for what docs/operations/METRICS.md has:");
    let unseen: Vec<String> = metrics.into_keys().filter(|metric| !shown.contains(metric)).collect();
    assert_none(&unseen, "Show these metrics on a dashboard:");
}

/// The words of a query outside quotation marks that are no numbers, and no lengths of time.
fn words(query: &str) -> impl Iterator<Item = &str> {
    let outside = query.split('"').step_by(2);
    outside
        .flat_map(|part| part.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')))
        .filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
}

/// The name under which a metric is documented.
fn family(name: &str) -> &str {
    ["_bucket", "_sum", "_count"].into_iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// The metrics of the table in METRICS.md, and the labels of each.
fn metrics() -> BTreeMap<String, BTreeSet<String>> {
    let pages = files_named("docs/operations/METRICS.md");
    let page = pages.first().expect("the page is there");
    let rows = page.text.lines().filter(|line| line.starts_with("| `vendgate_"));
    let metrics: BTreeMap<String, BTreeSet<String>> = rows
        .map(|row| {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            let name = cells.next().unwrap_or_default().trim_matches('`').to_owned();
            let labels = cells.nth(1).unwrap_or_default().split(", ").map(|label| label.trim_matches('`'));
            (name, labels.filter(|label| *label != "—").map(str::to_owned).collect())
        })
        .collect();
    assert!(metrics.len() > 40, "{metrics:?}");
    metrics
}

#[test]
fn a_query_is_taken_apart_into_metrics_labels_and_words() {
    let query = r#"sum by (kind, le) (rate(vendgate_x_bucket{answer="unknown or not"}[5m])) > 0"#;
    let found: Vec<&str> = words(query).collect();
    assert_eq!(found, ["sum", "by", "kind", "le", "rate", "vendgate_x_bucket", "answer"]);
    assert!(has_series(query) && !has_series("sum by (le) (x)"));
}

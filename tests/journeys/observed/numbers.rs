//! The metrics of a program at `/metrics`, parsed.

use std::collections::{BTreeMap, BTreeSet};

use sandbox::{Listener, Process, http_client};

/// All metrics of one program at one moment.
pub struct Numbers {
    pub text: String,
    told: Vec<Number>,
}

struct Number {
    name: String,
    labels: BTreeMap<String, String>,
    value: String,
}

impl Numbers {
    pub async fn of(program: &Process) -> Self {
        let (status, text) = ask(program, "/metrics").await;
        assert_eq!(status, 200);
        let told = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(read).collect();
        Self { text, told }
    }

    /// The sum of all counts with this name and these labels.
    pub fn count(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        let values = self.told.iter().filter(|number| number.name == name && number.has(labels));
        values.map(|number| number.value.parse::<u64>().unwrap()).sum()
    }

    /// Whether there is a number with this name and these labels.
    pub fn has(&self, name: &str, labels: &[(&str, &str)]) -> bool {
        self.told.iter().any(|number| number.name == name && number.has(labels))
    }

    /// All names of metrics with the names of their labels. A histogram has one name.
    pub fn names(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for number in &self.told {
            let labels = number.labels.keys().filter(|label| *label != "le").cloned();
            names.entry(family(&number.name).to_owned()).or_default().extend(labels);
        }
        names
    }
}

impl Number {
    fn has(&self, labels: &[(&str, &str)]) -> bool {
        labels.iter().all(|(name, value)| self.labels.get(*name).is_some_and(|known| known == value))
    }
}

/// The name under which a metric is described.
pub fn family(name: &str) -> &str {
    ["_bucket", "_sum", "_count"].into_iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// The status and body of an answer of a program's observe endpoint.
pub async fn ask(program: &Process, path: &str) -> (u16, String) {
    let url = format!("{}{path}", program.address(Listener::Observe));
    let answer = http_client().unwrap().get(url).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// Parses `name{label="value",…} number`. No label's value here contains a quote or a comma.
fn read(line: &str) -> Number {
    let (what, value) = line.rsplit_once(' ').unwrap();
    let (name, labels) = what.split_once('{').unwrap_or((what, "}"));
    let labels = labels.strip_suffix('}').unwrap().split(',').filter(|label| !label.is_empty());
    let labels = labels.map(|label| {
        let (name, value) = label.split_once('=').unwrap();
        (name.to_owned(), value.trim_matches('"').to_owned())
    });
    Number { name: name.to_owned(), labels: labels.collect(), value: value.to_owned() }
}

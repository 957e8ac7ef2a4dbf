//! The utility's own log: what was really vended.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;

/// All vends that the utility decided, in order.
#[derive(Clone, Debug, Default)]
pub struct VendLog(pub Vec<VendLine>);

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct VendLine {
    pub product_type: String,
    pub reference: String,
    pub subscriber: String,
    /// `100.00`
    pub amount: String,
    pub currency: String,
    pub tokens: Vec<String>,
    pub outcome: String,
}

impl VendLog {
    /// Reads the file while the utility appends to it.
    pub fn read(path: &Path) -> Self {
        let log = fs::read_to_string(path).unwrap();
        // The last line may be incomplete.
        let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
        Self(whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    /// The vends that subscribers received, by product and reference.
    pub fn vended(&self) -> BTreeMap<(&str, &str), Vec<&VendLine>> {
        let mut vended: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for line in self.0.iter().filter(|line| line.outcome == "vended") {
            vended.entry((line.product_type.as_str(), line.reference.as_str())).or_default().push(line);
        }
        vended
    }
}

impl VendLine {
    /// The amount in hundredths.
    pub fn minor(&self) -> Option<i64> {
        let (whole, fraction) = self.amount.split_once('.')?;
        if fraction.len() == 2 { format!("{whole}{fraction}").parse().ok() } else { None }
    }
}

//! The utility's own log: what was really vended.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use serde::Deserialize;
use vend::CallId;

/// How far Nigeria is ahead of UTC.
const AHEAD: Duration = Duration::from_hours(1);

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
        let read = |line| -> VendLine { serde_json::from_str(line).unwrap() };
        Self(whole.lines().map(|line| read(line).under_our_reference()).collect())
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
    /// The same under our reference. A request id of VTpass has it in another form: date and time in Nigeria, an hour ahead of
    /// UTC, the six digits of the number, and the service.
    fn under_our_reference(mut self) -> Self {
        let digits = self.reference.bytes().take_while(u8::is_ascii_digit).count();
        if let (20, Some((at, rest))) = (digits, self.reference.split_at_checked(14)) {
            let nigeria = CallId::parse(&format!("{at}-{}", rest.get(..6).unwrap())).unwrap();
            let ours = CallId::new(nigeria.number(), nigeria.at() - AHEAD).unwrap();
            self.reference = ours.to_string();
        }
        self
    }

    /// The amount in hundredths.
    pub fn minor(&self) -> Option<i64> {
        let (whole, fraction) = self.amount.split_once('.')?;
        if fraction.len() == 2 { format!("{whole}{fraction}").parse().ok() } else { None }
    }
}

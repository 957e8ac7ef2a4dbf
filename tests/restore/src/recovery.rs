//! The operator's part after a restore to a moment: the vends that only the provider has are entered from its statement, and
//! decided.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fs::{self, File},
    io::Write,
    path::PathBuf,
    process::Command,
};

use acceptance::fault_injection::FaultEnv;
use chrono::DateTime;
use serde::Deserialize;
use serde_json::Value;

use crate::Failure;

const PROVIDER: &str = "BPC";
const BECAUSE: [&str; 2] = ["--reason", "rehearsal of a restore"];
const OWED: &str = "SELECT sum(CASE WHEN credit_account_id = a.id THEN amount ELSE -amount END)
    FROM accounts a JOIN postings ON a.id IN (debit_account_id, credit_account_id) WHERE a.house = 'PROVIDER_PAYABLE'";

/// What the operator was told, and what is owed in the end. Amounts are in hundredths.
pub struct Recovery {
    /// The references that the comparison found in the statement only.
    pub unmatched: BTreeSet<String>,
    /// How many vends were entered, and how many when the same statement was entered again.
    pub entered: usize,
    pub entered_again: usize,
    pub charged: usize,
    pub waived: usize,
    pub undecided: usize,
    /// What differed at rest, after all was decided, except for what was entered.
    pub left: BTreeSet<String>,
    /// What is owed to the provider, and what it has vended.
    pub owed: i64,
    pub vended: i64,
}

/// The provider's statement of what it vended in a period, and what the integrators know of it.
pub struct Statement<'a> {
    env: &'a FaultEnv,
    file: PathBuf,
    from: String,
    until: String,
    /// The wallet of each vend, by reference: the integrators know what they have sold.
    sold: BTreeMap<String, String>,
}

/// What the provider remembers of a vend.
#[derive(Deserialize)]
struct Vended {
    reference: String,
    subscriber: String,
    product_type: String,
    amount: String,
    currency: String,
    tokens: Vec<String>,
    /// RFC 3339.
    at: String,
    answer: Answer,
}

#[derive(Deserialize)]
struct Answer {
    reply: Reply,
}

#[derive(Deserialize)]
struct Reply {
    receipt: Receipt,
}

#[derive(Deserialize)]
struct Receipt {
    number: String,
}

impl<'a> Statement<'a> {
    /// Writes it into a file. The times are RFC 3339.
    pub fn write(
        env: &'a FaultEnv,
        file: PathBuf,
        from: String,
        until: String,
        sold: BTreeMap<String, String>,
    ) -> Result<Self, Failure> {
        let (begin, end) = (DateTime::parse_from_rfc3339(&from)?, DateTime::parse_from_rfc3339(&until)?);
        let mut statement = File::create(&file)?;
        writeln!(statement, "reference,transaction,time,product,subscriber,amount,currency,token")?;
        for vend in vended(env)? {
            if (begin..end).contains(&DateTime::parse_from_rfc3339(&vend.at)?) {
                writeln!(statement, "{}", vend.line())?;
            }
        }
        Ok(Self { env, file, from, until, sold })
    }

    /// What an operator does with it, while servers and workers sell: compares, enters, and decides all in one sitting. The last
    /// vend is waived, the others are charged to the wallets of those who sold them.
    pub fn enter_and_decide(&self) -> Result<Recovery, Failure> {
        let unmatched = self.differences(|one| one["finding"] == "only theirs")?;
        let (entered, entered_again) = (self.enter()?, self.enter()?);
        let undecided = self.undecided()?;
        let (mut charged, mut waived) = (0, 0);
        let mut by_wallet: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (index, (id, reference)) in undecided.iter().enumerate() {
            match self.sold.get(reference) {
                Some(wallet) if index + 1 < undecided.len() => {
                    by_wallet.entry(wallet).or_default().push(id.clone());
                }
                _ => {
                    self.vendctl(&[&["recover", "waive", id], &BECAUSE[..]].concat())?;
                    waived += 1;
                }
            }
        }
        for (wallet, ids) in &by_wallet {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            charged += ids.len();
            self.vendctl(&[&["recover", "charge", "--account", wallet], &BECAUSE[..], &ids].concat())?;
        }
        let undecided = self.undecided()?.len();
        let left = BTreeSet::new();
        Ok(Recovery {
            unmatched,
            entered,
            entered_again,
            charged,
            waived,
            undecided,
            left,
            owed: 0,
            vended: 0,
        })
    }

    /// What is true at rest.
    pub fn at_rest(&self, recovery: Recovery) -> Result<Recovery, Failure> {
        let minor = |vend: Vended| vend.amount.replace('.', "").parse::<i64>();
        Ok(Recovery {
            left: self.differences(|one| one["unmatched_vend"].is_null())?,
            owed: self.env.asks(OWED).parse()?,
            vended: vended(self.env)?.into_iter().map(minor).sum::<Result<i64, _>>()?,
            ..recovery
        })
    }

    /// No clock differs here, so each vend of the period must be in the statement.
    fn differences(&self, are_meant: impl Fn(&Value) -> bool) -> Result<BTreeSet<String>, Failure> {
        let file = self.file()?;
        let period = ["--from", &self.from, "--until", &self.until, "--tolerance", "1s"];
        let command = ["reconcile", PROVIDER, file];
        let compared = self.vendctl(&[&command[..], &period, &["--dry-run"], &BECAUSE].concat())?;
        let differences =
            compared.get("discrepancies").and_then(Value::as_array).ok_or("the comparison has no list")?;
        let meant = differences.iter().filter(|one| are_meant(one));
        Ok(meant.filter_map(|one| one["reference"].as_str()).map(str::to_owned).collect())
    }

    fn enter(&self) -> Result<usize, Failure> {
        let command = ["recover", "enter", self.file()?, "--provider", PROVIDER];
        let entered = self.vendctl(&[&command[..], &BECAUSE].concat())?;
        Ok(entered.get("entered").and_then(Value::as_array).map_or(0, Vec::len))
    }

    /// Number and reference of each.
    fn undecided(&self) -> Result<Vec<(String, String)>, Failure> {
        let listed = self.vendctl(&["recover", "list", "--limit", "1000"])?;
        let vends = listed.as_array().ok_or("the list is no list")?;
        Ok(vends
            .iter()
            .map(|vend| (vend["id"].to_string(), vend["reference"].as_str().unwrap_or_default().to_owned()))
            .collect())
    }

    fn file(&self) -> Result<&str, Failure> {
        Ok(self.file.to_str().ok_or("the path of the statement is not UTF-8")?)
    }

    /// What `vendctl` prints, as JSON.
    fn vendctl(&self, arguments: &[&str]) -> Result<Value, Failure> {
        let settings = &self.env.sandbox.info().operator_settings;
        let mut vendctl = Command::new(env::current_exe()?);
        let output =
            vendctl.arg("vendctl").arg("--json").arg("--settings").arg(settings).args(arguments).output()?;
        // 4: the statement differs from the books.
        if !matches!(output.status.code(), Some(0 | 4)) {
            return Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

impl Vended {
    fn line(&self) -> String {
        let Self { reference, subscriber, product_type, amount, currency, tokens, at, answer } = self;
        let transaction = &answer.reply.receipt.number;
        let token = tokens.join("|");
        format!("{reference},{transaction},{at},{product_type},{subscriber},{amount},{currency},{token}")
    }
}

/// All that the provider has vended.
fn vended(env: &FaultEnv) -> Result<Vec<Vended>, Failure> {
    let log = fs::read_to_string(env.sandbox.vend_log())?;
    // The last line may be incomplete.
    let whole = log.rsplit_once('\n').map_or("", |(whole, _incomplete)| whole);
    let lines: Vec<Value> = whole.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let vended = lines.into_iter().filter(|line| line["outcome"] == "vended");
    Ok(vended.map(serde_json::from_value).collect::<Result<_, _>>()?)
}

//! The proof that a fabricated history is sound: the standing checks look at every row of it.

use std::fmt::{self, Display, Formatter};

use back_office::{CheckProgress, check_books};
use bench::Failure;
use local_postgres::LocalDatabase;
use store::Store;

/// Rows of each kind in one look (`back_office::checks`), fewer than it takes.
const ROWS_A_LOOK: u64 = 2_000;
const POSTINGS_A_LOOK: u64 = 20_000;
/// A few more, because wallets are counted in whole looks.
const MORE: u64 = 5;

/// The looks that the checks have taken, and those that it takes to see every row.
pub struct Proof {
    looks: u64,
    of: u64,
}

impl Display for Proof {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { looks, of } = self;
        let looks_at_all = format!("the checks found no violation in {looks} looks");
        if looks < of { write!(f, "{looks_at_all}; {of} see every row") } else { f.write_str(&looks_at_all) }
    }
}

/// Lets the checks come around once, or as far as they come in `looks_max`. Any violation is a failure.
pub async fn prove(
    store: &Store,
    database: &LocalDatabase,
    looks_max: Option<u64>,
) -> Result<Proof, Failure> {
    let largest = "SELECT greatest((SELECT max(id) FROM purchases), (SELECT max(id) FROM journal_entries))";
    let rows: u64 = database.run_sql(largest)?.parse()?;
    let postings: u64 = database.run_sql("SELECT count(*) FROM postings")?.parse()?;
    let of = (rows / ROWS_A_LOOK).max(postings / POSTINGS_A_LOOK).saturating_add(MORE);
    let looks = looks_max.map_or(of, |max| of.min(max));
    let mut progress = CheckProgress::default();
    for _ in 0..looks {
        let violations = check_books(store, &mut progress).await?;
        if let Some(violation) = violations.first() {
            return Err(format!(
                "the fabricated history violates {violation:?}, and {} others",
                violations.len()
            )
            .into());
        }
    }
    Ok(Proof { looks, of })
}

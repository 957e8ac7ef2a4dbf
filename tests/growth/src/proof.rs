//! The proof that a fabricated history is sound: the standing checks look at every row of it.

use back_office::{CheckProgress, check_books};
use bench::Failure;
use local_postgres::LocalDatabase;
use store::Store;

/// Rows of each kind in one look (`back_office::checks`), fewer than it takes.
const ROWS_A_LOOK: u64 = 2_000;
const POSTINGS_A_LOOK: u64 = 20_000;
/// A few more, because wallets are counted in whole looks.
const MORE: u64 = 5;

/// Lets the checks come around once. Any violation is a failure.
pub async fn prove(store: &Store, database: &LocalDatabase) -> Result<u64, Failure> {
    let largest = "SELECT greatest((SELECT max(id) FROM purchases), (SELECT max(id) FROM journal_entries))";
    let rows: u64 = database.run_sql(largest)?.parse()?;
    let postings: u64 = database.run_sql("SELECT count(*) FROM postings")?.parse()?;
    let looks = (rows / ROWS_A_LOOK).max(postings / POSTINGS_A_LOOK).saturating_add(MORE);
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
    Ok(looks)
}

//! Above what an act needs a second person.

use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text},
};
use directory::AuditContext;

/// The threshold of one kind of act.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct Threshold {
    /// As the database has it.
    #[diesel(sql_type = Text)]
    pub act: String,
    /// In hundredths of any currency. `None` if no act needs a second person.
    #[diesel(sql_type = Nullable<BigInt>)]
    pub above: Option<i64>,
}

impl Threshold {
    /// Whether `above` protects less than this threshold, so that a second person has to agree.
    pub fn is_lowered_by(&self, above: Option<i64>) -> bool {
        self.above.is_some_and(|now| above.is_none_or(|then| then > now))
    }
}

struct ListThresholds;

impl Statement for ListThresholds {
    const SQL: &str = "-- list_thresholds\nSELECT act, above FROM approval_thresholds ORDER BY act";
}

/// The thresholds of all kinds of acts.
pub async fn list_thresholds(database: &Database) -> Result<Vec<Threshold>, DatabaseError> {
    database
        .read(|connection| Box::pin(async move { prepared::<ListThresholds>().load(connection).await }))
        .await
}

struct SetThreshold;

impl Statement for SetThreshold {
    const SQL: &str = "-- set_threshold\nSELECT set_approval_threshold($1, $2, $3, $4)";
}

/// Sets a threshold, with its line in the audit log. The database refuses to lower the protection without an approval.
pub async fn set_threshold(
    database: &Database,
    threshold: Threshold,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let set = database.operate(move |transaction| {
        Box::pin(async move {
            let set = prepared::<SetThreshold>()
                .bind::<Text, _>(threshold.act)
                .bind::<Nullable<BigInt>, _>(threshold.above)
                .bind::<Text, _>(act.actor)
                .bind::<Text, _>(act.reason);
            set.execute(transaction).await.map(drop)
        })
    });
    set.await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_lowered_when_fewer_acts_need_a_second_person() {
        let at = |above| Threshold { act: "TOP_UP".to_owned(), above };
        for (now, then, is_lowered) in [
            (None, None, false),
            (None, Some(5), false),
            (Some(5), Some(5), false),
            (Some(5), Some(0), false),
            (Some(5), Some(6), true),
            (Some(0), None, true),
        ] {
            assert_eq!(at(now).is_lowered_by(then), is_lowered, "{now:?} {then:?}");
        }
    }
}

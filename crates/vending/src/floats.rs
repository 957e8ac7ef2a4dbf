//! Our float at the providers: what is left of the money that we have prepaid there. The worker asks for it at intervals. No
//! purchase waits for it, and none is refused because of it.

use std::time::Duration;

use database::DatabaseError;

use crate::Vending;

impl Vending {
    /// Asks each provider for our float there, and stores the answers. A provider that has told it within half of `every`,
    /// for example to another worker, is not asked again. One whose protocol does not tell it is left out.
    ///
    /// # Errors
    /// The error of the database. A provider that does not answer is only logged.
    pub async fn ask_for_floats(&self, every: Duration) -> Result<(), DatabaseError> {
        let database = self.0.store.database();
        let known = catalogue::list_floats(database).await?;
        for (code, provider) in &self.0.providers {
            let age =
                known.iter().filter(|float| float.provider_code == *code).filter_map(|float| float.age).min();
            if age.is_some_and(|age| age < every / 2) {
                continue;
            }
            let call = match self.0.numbers.call(&self.0.store, code, self.0.clock.monotonic()).await {
                Ok(call) => call,
                Err(error) => {
                    let cause: &dyn std::error::Error = &error;
                    tracing::warn!(cause, provider = code, "our float could not be asked for");
                    continue;
                }
            };
            match provider.float(call).await {
                Ok(Some(left)) => catalogue::record_float(database, code.clone(), left).await?,
                Ok(None) => {}
                Err(unanswered) => {
                    tracing::warn!(
                        provider = code,
                        ?unanswered,
                        "a provider did not report our float, the balance that we hold there"
                    );
                }
            }
        }
        Ok(())
    }
}

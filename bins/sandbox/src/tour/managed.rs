//! A purchase from the managed wallet: the client does not ask again, and the worker completes it.

use std::time::Duration;

use clock::{Clock, SystemClock};

use super::{Answer, Story, Surprise, Till, Utility};
use crate::{SandboxInfo, seed::ELECTRICITY};

/// Longer than the worker takes on a very busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(100);

/// Buys while the utility is busy, and waits for the worker and for the customer's SMS.
pub(super) async fn let_the_service_try_again(
    story: &mut Story<'_>,
    till: &Till,
    utility: &Utility,
    info: &SandboxInfo,
    meter: &str,
) -> Result<(), Surprise> {
    story.chapter("Buy from the managed wallet while the utility is busy: the worker retries it")?;
    let wallet = info.managed_account_id;
    let before = till.balance_of(wallet).await?;
    let order = Till::order_from(wallet, &ELECTRICITY, meter, "40.00", "tour-6");
    let pending = till.post("/purchases/confirm", &order).await?.expect(200)?;
    pending.expect_text("/status", "PENDING")?;
    pending.expect_none("/product/token")?;
    story.line("confirm    200 PENDING: the money is held, and the client does not have to ask again")?;

    let id = pending.number("/id")?;
    let began = SystemClock.monotonic();
    let bought = ended(till, id).await?;
    bought.expect_text("/status", "SUCCESSFUL")?;
    let took = SystemClock.monotonic().elapsed_since(began);
    story.line(&format!("worker     SUCCESSFUL, {} s later", took.as_secs()))?;
    Surprise::unless_equal("the vends in the utility's log", &1, &utility.vends_for(meter).await?)?;
    Till::expect_charged_once(before, till.balance_of(wallet).await?, &bought)?;

    let token = bought.text("/product/token")?;
    for line in sms_with(utility, token).await?.lines() {
        story.line(&format!("SMS        {line}"))?;
    }
    story.verdict(&utility.enters(meter, token).await?, None)?;
    story.line("All its attempts, enquiries and decisions, in the operator's view:")?;
    story.line(&format!(
        "cargo run -q -p vendctl -- --settings {} purchases show {id}",
        info.operator_settings.display()
    ))
}

/// The purchase, once it is no longer pending.
async fn ended(till: &Till, id: u64) -> Result<Answer, Surprise> {
    let began = SystemClock.monotonic();
    loop {
        let purchase = till.get(&format!("/purchases/{id}")).await?;
        let waited = SystemClock.monotonic().elapsed_since(began);
        if purchase.text("/status")? != "PENDING" || waited > PATIENCE {
            return Ok(purchase);
        }
        tokio::time::sleep(POLL).await;
    }
}

/// The SMS to the customer that contains the token.
async fn sms_with(utility: &Utility, token: &str) -> Result<String, Surprise> {
    let began = SystemClock.monotonic();
    loop {
        let received = utility.sms_to(super::till::CUSTOMER).await?;
        if let Some(sms) = received.into_iter().find(|sms| digits(sms).contains(token)) {
            return Ok(sms);
        }
        if SystemClock.monotonic().elapsed_since(began) > PATIENCE {
            return Err(Surprise::different(
                "the customer's inbox",
                &"an SMS with the token",
                &"without one",
            ));
        }
        tokio::time::sleep(POLL).await;
    }
}

/// The digits of a text. An SMS contains a token in groups.
fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

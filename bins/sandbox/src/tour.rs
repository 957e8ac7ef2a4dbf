//! A tour of the system for a new user. It buys electricity, water and airtime over real HTTP, and enters tokens into
//! virtual meters. It loses an answer and finds it again, and the worker retries while the utility is busy. Every
//! result that is shown is also checked.

mod managed;
mod story;
mod surprise;
mod till;
mod utility;

use std::{collections::BTreeMap, io::Write};

use crate::{
    SandboxInfo, http_client,
    seed::{AIRTIME, ELECTRICITY, Offering, WATER},
};

pub use surprise::Surprise;

use story::Story;
use till::{Answer, Till, question};
use utility::Utility;

/// Runs the tour and prints it on `out`.
///
/// # Errors
/// At the first result that differs from the expected one.
pub async fn tour(info: &SandboxInfo, out: &mut (dyn Write + Send)) -> Result<(), Surprise> {
    let client = http_client()?;
    let utility = Utility::new(client.clone(), &info.simulator_url);
    let mut story = Story::new(out);
    story.opening(info)?;

    story.chapter("Log in")?;
    let till = Till::log_in(client, info).await?;
    story.line(&format!("POST /auth/login     a bearer token for {} s", till.access_in))?;

    let meters = &info.subscribers.electricity;
    look_around(&mut story, &till).await?;
    buy(&mut story, &till, &utility, named(meters, "active_11_digit")?).await?;
    lose_a_reply(&mut story, &till, &utility, named(meters, "lost_reply")?).await?;
    change_the_key(&mut story, &till, &utility, named(meters, "key_change")?).await?;
    buy_water(&mut story, &till, &utility, named(&info.subscribers.water, "active")?).await?;
    buy_airtime(&mut story, &till, &utility, named(&info.subscribers.airtime, "active")?).await?;
    let busy = named(meters, "busy_then_ok")?;
    managed::let_the_service_try_again(&mut story, &till, &utility, info, busy).await?;
    story.closing(info, &till)
}

async fn look_around(story: &mut Story<'_>, till: &Till) -> Result<(), Surprise> {
    story.chapter("Look around")?;
    let accounts = till.get("/accounts").await?;
    for account in accounts.rows()? {
        story.line(&format!(
            "GET /accounts        {:<16} {}",
            account.text("/name")?,
            account.text("/balance")?
        ))?;
    }
    let products = till.get("/vas-products").await?;
    for product in products.rows()? {
        let (kind, hint) = (product.text("/product_type")?, product.text("/subscriber_id_hint")?);
        story.line(&format!(
            "GET /vas-products    {kind} from {}: {hint}",
            product.text("/providers/0/code")?
        ))?;
    }
    Ok(())
}

async fn buy(story: &mut Story<'_>, till: &Till, utility: &Utility, meter: &str) -> Result<(), Surprise> {
    story.chapter("Ask what BWP 100.00 of electricity would cost: validate moves no money")?;
    let order = till.order(&ELECTRICITY, meter, "100.00", "tour-1");
    let quote = till.post("/purchases/validate", &order).await?.expect(200)?;
    quote.expect_text("/status", "ON_GOING")?;
    story.line(&format!("customer   {}", quote.text("/subscriber_details")?))?;
    story.line(&format!("yields     {}", quote.text("/product/units")?))?;
    story.line(&format!(
        "costs      {} = {} + {} charge",
        quote.text("/total")?,
        quote.text("/net")?,
        quote.text("/charge")?
    ))?;

    story.chapter("Buy it: confirm debits the wallet and returns the token")?;
    let before = till.balance().await?;
    let bought = till.post("/purchases/confirm", &order).await?.expect(200)?;
    bought.expect_text("/status", "SUCCESSFUL")?;
    bought.expect_text("/total", quote.text("/total")?)?;
    bought.expect_text("/product/units", quote.text("/product/units")?)?;
    let after = till.balance().await?;
    Till::expect_charged_once(before, after, &bought)?;
    let token = bought.text("/product/token")?;
    story.line(&format!("reference  {}", bought.text("/reference")?))?;
    story.line(&format!("token      {}", grouped(token)))?;
    story.line(&format!("wallet     {before} before, {after} after"))?;

    story.chapter("Enter the token into the meter, twice")?;
    story.verdict(&utility.enters(meter, token).await?, None)?;
    story.verdict(&utility.enters(meter, token).await?, Some("already_used"))
}

async fn lose_a_reply(
    story: &mut Story<'_>,
    till: &Till,
    utility: &Utility,
    meter: &str,
) -> Result<(), Surprise> {
    story.chapter("Lose a reply: the utility vends, and the connection breaks before it answers")?;
    let before = till.balance().await?;
    let order = till.order(&ELECTRICITY, meter, "50.00", "tour-2");
    let lost = till.post("/purchases/confirm", &order).await?.expect(504)?;
    lost.expect_text("/error/code", "provider_timeout")?;
    story.line("confirm    504 provider_timeout: the outcome is unknown, and the money is held")?;
    let found = till.post("/purchases/retry", &question(meter, "tour-2")).await?.expect(200)?;
    found.expect_text("/status", "SUCCESSFUL")?;
    let token = found.text("/product/token")?;
    story.line(&format!("retry      200 {}: the utility was asked, and had the answer", grouped(token)))?;
    let vends = utility.vends_for(meter).await?;
    Surprise::unless_equal("the vends in the utility's log", &1, &vends)?;
    Till::expect_charged_once(before, till.balance().await?, &found)?;
    story.line("           one vend in the utility's log, one charge on the wallet")?;
    let again = till.post("/purchases/retry", &question(meter, "tour-2")).await?.expect(200)?;
    again.expect_text("/product/token", token)?;
    story.verdict(&utility.enters(meter, token).await?, None)
}

async fn change_the_key(
    story: &mut Story<'_>,
    till: &Till,
    utility: &Utility,
    meter: &str,
) -> Result<(), Surprise> {
    story.chapter("Buy for a meter that must change its key: three tokens, entered in order")?;
    let order = till.order(&ELECTRICITY, meter, "1200.00", "tour-3");
    let bought = till.post("/purchases/confirm", &order).await?.expect(200)?;
    let pairs = pairs(&bought)?;
    Surprise::unless_equal("the tokens of a key change", &3, &pairs.len())?;
    if let Some((_, credit)) = pairs.last() {
        story.typed("Credit token, too early", credit)?;
        story.verdict(&utility.enters(meter, credit).await?, Some("wrong_key"))?;
    }
    for (description, token) in pairs {
        story.typed(description, token)?;
        story.verdict(&utility.enters(meter, token).await?, None)?;
    }
    Ok(())
}

async fn buy_water(
    story: &mut Story<'_>,
    till: &Till,
    utility: &Utility,
    meter: &str,
) -> Result<(), Surprise> {
    story.chapter("Buy water: the same request, another product")?;
    let bought = buy_once(till, &WATER, meter, "60.00", "tour-4").await?;
    let token = bought.text("/product/token")?;
    story.line(&format!("token      {} for {}", grouped(token), bought.text("/product/units")?))?;
    story.verdict_in("L", &utility.enters(meter, token).await?, None)
}

async fn buy_airtime(
    story: &mut Story<'_>,
    till: &Till,
    utility: &Utility,
    phone: &str,
) -> Result<(), Surprise> {
    story.chapter("Buy airtime: the phone is credited, and there is no token")?;
    let bought = buy_once(till, &AIRTIME, phone, "20.00", "tour-5").await?;
    bought.expect_none("/product/token")?;
    bought.expect_none("/product/units")?;
    let transaction = bought.text("/metadata/provider_transaction_identifier")?;
    Surprise::unless_equal("the top-ups in the aggregator's log", &1, &utility.vends_for(phone).await?)?;
    story.line(&format!("phone      {phone} is credited: the network's transaction {transaction}"))
}

/// Buys, and checks that the wallet was charged once.
async fn buy_once(
    till: &Till,
    offering: &Offering,
    subscriber: &str,
    amount: &str,
    external_reference: &str,
) -> Result<Answer, Surprise> {
    let before = till.balance().await?;
    let order = till.order(offering, subscriber, amount, external_reference);
    let bought = till.post("/purchases/confirm", &order).await?.expect(200)?;
    bought.expect_text("/status", "SUCCESSFUL")?;
    bought.expect_text("/product/type", offering.product.as_str())?;
    Till::expect_charged_once(before, till.balance().await?, &bought)?;
    Ok(bought)
}

/// The `Description: Token` pairs, separated by bars and split at the first colon (specification, section 2.2).
fn pairs(bought: &Answer) -> Result<Vec<(&str, &str)>, Surprise> {
    let pair =
        |pair| split_pair(pair).ok_or_else(|| Surprise::different("a token's pair", &"two parts", &"one"));
    bought.text("/product/token")?.split('|').map(pair).collect()
}

fn split_pair(pair: &str) -> Option<(&str, &str)> {
    pair.split_once(':').map(|(description, token)| (description, token.trim()))
}

/// The subscriber of a scenario.
fn named(
    subscribers: &BTreeMap<&'static str, &'static str>,
    scenario: &str,
) -> Result<&'static str, Surprise> {
    let identifier = subscribers.get(scenario).copied();
    identifier.ok_or_else(|| Surprise::different(scenario, &"a subscriber of the simulator", &"unknown"))
}

/// The token as on a receipt: in groups of four digits.
fn grouped(token: &str) -> String {
    let digits: Vec<char> = token.chars().collect();
    let groups: Vec<String> = digits.chunks(4).map(|group| group.iter().collect()).collect();
    groups.join(" ")
}

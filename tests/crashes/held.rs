//! A proxy that keeps a confirm in its queue while the client is told by retry that nothing was bought: delivered within the
//! reference's rest it buys nothing, and a purchase under a new reference is not delayed.

use std::{sync::Arc, time::Duration};

use acceptance::{
    checker::Claim,
    storm::{Order, PATIENT, Route, Seed, StormTown, rounds},
};
use clock::{Clock, SystemClock};
use futures_util::future::join_all;
use sandbox::Pace;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::Builder,
    sync::oneshot,
};

use crate::{
    lawful::assert_lawful,
    town::{found_at, turn},
};

/// What fits into every test run, and how long each is held at most.
const USUAL_CONFIRMS: usize = 24;
const USUAL_HOLD: Duration = Duration::from_secs(4);
const MOST_CONFIRMS: usize = 200;
/// The rest at the default timing is a minute from the 404 on; a second is left for the delivery.
const LONGEST_HOLD: Duration = Duration::from_secs(59);
/// They begin one after another, as long as the machine takes for one.
const BETWEEN_BEGINNINGS: Duration = Duration::from_millis(40);
/// Far less than the rest, and enough for a purchase on a very busy machine.
const AT_ONCE: Duration = Duration::from_secs(10);
/// Enough to hand a confirm to the proxy, and less than most holds.
const SHORTEST_PATIENCE: Duration = Duration::from_millis(900);

/// One confirm, and what is done with it.
#[derive(Clone, Copy, Debug)]
struct Plan {
    number: usize,
    hold: Duration,
    /// How long its client waits for an answer: beyond the hold, or it hangs up before.
    patience: Duration,
}

/// What the server answered to a confirm that was held.
#[derive(Debug)]
struct Delivered {
    status: u16,
    retry_after: u64,
    text: String,
}

/// What came of one plan.
struct Outcome {
    plan: Plan,
    delivered: Delivered,
    /// How long the purchase under a new reference took.
    bought_in: Duration,
}

#[test]
fn a_confirm_that_a_proxy_held_buys_nothing_once_its_caller_was_told_that_nothing_was_bought() {
    let _turn = turn();
    let mut seed = Seed::given_or_new();
    println!("held confirms: VENDGATE_SEED={}", seed.number());
    let town = Arc::new(found_at(Pace::Production, "held"));
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let count = rounds(USUAL_CONFIRMS).min(MOST_CONFIRMS);
    let longest = if count > USUAL_CONFIRMS { LONGEST_HOLD } else { USUAL_HOLD };
    let plans: Vec<Plan> = (0..count).map(|number| plan(number, longest, &mut seed)).collect();
    let outcomes = runtime.block_on(join_all(plans.iter().map(|plan| run(&town, *plan))));
    report(&town, &outcomes);
    for Outcome { plan, delivered, bought_in } in &outcomes {
        assert_eq!(delivered.status, 409, "{plan:?}: {delivered:?}");
        assert!(delivered.text.contains("transaction_pending"), "{plan:?}: {delivered:?}");
        assert!((1..=60).contains(&delivered.retry_after), "{plan:?}: {delivered:?}");
        assert!(*bought_in < AT_ONCE, "{plan:?}: a new reference was delayed for {bought_in:?}");
    }
    assert_eq!((purchases(&town, "held-"), purchases(&town, "new-")), (0, count));
    runtime.block_on(town.comes_to_rest());
    assert_lawful(&town, |_| String::new());
}

/// What a person reads: one line.
fn report(town: &StormTown, outcomes: &[Outcome]) {
    let count = outcomes.len();
    let hung_up = outcomes.iter().filter(|outcome| outcome.plan.patience < outcome.plan.hold).count();
    let longest = outcomes.iter().map(|outcome| outcome.plan.hold).max().unwrap_or_default();
    let slowest = outcomes.iter().map(|outcome| outcome.bought_in).max().unwrap_or_default();
    let (held, new) = (purchases(town, "held-"), purchases(town, "new-"));
    println!(
        "told 404 {count} times; {count} held confirms delivered after it ({hung_up} of clients that had hung up; held for \
         {longest:?} at most), {held} bought; {new} bought under a new reference, the slowest in {slowest:?}"
    );
}

/// How many there are of the references that begin so.
fn purchases(town: &StormTown, prefix: &str) -> usize {
    let count = "SELECT count(*) FROM purchases WHERE external_reference LIKE";
    town.asks(&format!("{count} '{prefix}%'")).parse().unwrap()
}

fn plan(number: usize, longest: Duration, seed: &mut Seed) -> Plan {
    let hold = below(longest, seed);
    let patience =
        if seed.choose(&[true, false]) { hold + PATIENT } else { below(hold, seed).max(SHORTEST_PATIENCE) };
    Plan { number, hold, patience }
}

fn below(bound: Duration, seed: &mut Seed) -> Duration {
    let milliseconds: Vec<u64> = (0..=u64::try_from(bound.as_millis()).unwrap()).collect();
    Duration::from_millis(seed.choose(&milliseconds))
}

/// The client hands its confirm to the proxy, is told 404, and buys under a new reference; then the proxy delivers.
async fn run(town: &Arc<StormTown>, plan: Plan) -> Outcome {
    tokio::time::sleep(BETWEEN_BEGINNINGS * u32::try_from(plan.number).unwrap()).await;
    let integrator = town.integrators.iter().cycle().nth(plan.number / 2).unwrap();
    let order = order(town, plan.number, "held");
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy_url = format!("http://{}", proxy.local_addr().unwrap());
    let (says_taken, taken) = oneshot::channel();
    let (deliver, delivers) = oneshot::channel();
    let server = town.url().trim_start_matches("http://").to_owned();
    let proxied = tokio::spawn(hold_and_forward(proxy, server, says_taken, delivers));
    let client = {
        let (integrator, order) = (integrator.clone(), order.clone());
        tokio::spawn(async move { integrator.confirm(&proxy_url, &order, plan.patience).await })
    };
    taken.await.unwrap();
    let handed_over = SystemClock.monotonic();
    let told = integrator.retry(town.url(), &order, PATIENT).await;
    assert_eq!(told.claim(), Claim::Absent, "{plan:?}: {told:?}");
    let held_for = SystemClock.monotonic().elapsed_since(handed_over);
    deliver.send(plan.hold.saturating_sub(held_for)).unwrap();
    let again =
        Order { external_reference: order.external_reference.replace("held", "new"), ..order.clone() };
    let began = SystemClock.monotonic();
    let bought = integrator.confirm(town.url(), &again, PATIENT).await;
    let bought_in = SystemClock.monotonic().elapsed_since(began);
    assert!(matches!(bought.claim(), Claim::Bought { .. }), "{plan:?}: {bought:?}");
    client.await.unwrap();
    Outcome { plan, delivered: proxied.await.unwrap(), bought_in }
}

fn order(town: &StormTown, number: usize, prefix: &str) -> Order {
    let integrator = town.integrators.iter().cycle().nth(number / 2).unwrap();
    Order {
        account: integrator.account(number.is_multiple_of(3)).0,
        subscriber: town.takes_meter(),
        external_reference: format!("{prefix}-{number}"),
        amount: format!("{}.50", 10 + number % 90),
        route: Route::of(number).keyed(number.is_multiple_of(4)),
    }
}

/// Takes one whole request, waits until it is told how long to wait further, and delivers it over a connection that stays
/// open, whether its client has hung up or not.
async fn hold_and_forward(
    proxy: TcpListener,
    server: String,
    taken: oneshot::Sender<()>,
    delivers: oneshot::Receiver<Duration>,
) -> Delivered {
    let (mut client, _) = proxy.accept().await.unwrap();
    let request = whole_message(&mut client).await;
    taken.send(()).unwrap();
    tokio::time::sleep(delivers.await.unwrap()).await;
    let mut upstream = TcpStream::connect(server).await.unwrap();
    upstream.write_all(&request).await.unwrap();
    let answer = whole_message(&mut upstream).await;
    // Its client may have hung up.
    let _may_be_gone = client.write_all(&answer).await;
    let text = String::from_utf8(answer).unwrap();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    Delivered { status, retry_after: header(&text, "retry-after").unwrap_or_default(), text }
}

/// A head and as many bytes as it says.
async fn whole_message(from: &mut TcpStream) -> Vec<u8> {
    let mut message = Vec::new();
    loop {
        let head_ends = message.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let head = head_ends.and_then(|end| std::str::from_utf8(message.get(..end)?).ok());
        let length = head.and_then(|head| header::<usize>(head, "content-length"));
        if let (Some(end), Some(length)) = (head_ends, length)
            && end + 4 + length <= message.len()
        {
            return message;
        }
        let read = from.read_buf(&mut message).await.unwrap();
        assert!(read > 0, "a message ended in its middle");
    }
}

fn header<T: std::str::FromStr>(message: &str, name: &str) -> Option<T> {
    let named = |line: &str| {
        let (its, value) = line.split_once(':')?;
        its.eq_ignore_ascii_case(name).then(|| value.trim().parse().ok())?
    };
    message.lines().take_while(|line| !line.is_empty()).find_map(named)
}

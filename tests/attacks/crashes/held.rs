//! A proxy holds a confirm in its queue while retry answers the client that nothing was bought. If the confirm is
//! delivered within the reference's rest, it buys nothing. A purchase under a new reference is not delayed.

use std::{sync::Arc, time::Duration};

use acceptance::{
    checker::{Claim, Exchange},
    fault_injection::{FaultEnv, Integrator, Order, PATIENT, Route, Seed, rounds},
};
use clock::{Clock, SystemClock};
use futures_util::future::join_all;
use sandbox::Pace;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

use super::sound::assert_sound;
use crate::env::{runtime, start_env_at, turn};

/// Small enough for every test run: the number of confirms, and the longest hold.
const USUAL_CONFIRMS: usize = 24;
const USUAL_HOLD: Duration = Duration::from_secs(4);
const MOST_CONFIRMS: usize = 200;
/// The rest at the default timing is a minute from the 404. One second is left for the delivery.
const LONGEST_HOLD: Duration = Duration::from_secs(59);
/// The confirms start one after another, at the rate that the machine can process. In a sweep other attacks keep it busy, and a client
/// that has too many requests at once is refused.
const USUAL_PAUSE: Duration = Duration::from_millis(40);
const PAUSE_OF_A_SWEEP: Duration = Duration::from_millis(150);
/// Far less than the rest, and enough for a purchase on a very busy machine.
const AT_ONCE: Duration = Duration::from_secs(10);
/// Enough to hand a confirm to the proxy, and less than most holds.
const SHORTEST_PATIENCE: Duration = Duration::from_millis(900);

/// One confirm and its parameters.
#[derive(Clone, Copy, Debug)]
struct Plan {
    number: usize,
    /// Since the beginning of the attack.
    begins_after: Duration,
    hold: Duration,
    /// How long its client waits for an answer. If this is shorter than the hold, the client hangs up.
    patience: Duration,
}

/// The server's answer to a confirm that was held.
#[derive(Debug)]
struct Delivered {
    status: u16,
    retry_after: u64,
    text: String,
}

/// The result of one plan.
struct Outcome {
    plan: Plan,
    delivered: Delivered,
    /// How long the purchase under a new reference took.
    bought_in: Duration,
}

/// How often a till buys before that fails.
const TRIES: u32 = 3;

#[test]
fn a_confirm_held_by_a_proxy_buys_nothing_after_retry_answered_not_found() {
    let _turn = turn();
    let mut seed = Seed::given_or_new("held confirms");
    let env = Arc::new(start_env_at(Pace::Production, "held"));
    let runtime = runtime();
    let count = rounds(USUAL_CONFIRMS).min(MOST_CONFIRMS);
    let (longest, pause) =
        if count > USUAL_CONFIRMS { (LONGEST_HOLD, PAUSE_OF_A_SWEEP) } else { (USUAL_HOLD, USUAL_PAUSE) };
    let plans: Vec<Plan> = (0..count).map(|number| plan(number, pause, longest, &mut seed)).collect();
    let outcomes = runtime.block_on(join_all(plans.iter().map(|plan| run(&env, *plan))));
    // An order that was refused is a failed purchase, and the till has tried again.
    let (held, new) = (purchases(&env, "'held-%'"), purchases(&env, "'new-%' AND state <> 'FAILED'"));
    report(&outcomes, held, new);
    for Outcome { plan, delivered, bought_in } in &outcomes {
        assert_eq!(delivered.status, 409, "{plan:?}: {delivered:?}");
        assert!(delivered.text.contains("transaction_pending"), "{plan:?}: {delivered:?}");
        assert!((1..=60).contains(&delivered.retry_after), "{plan:?}: {delivered:?}");
        assert!(*bought_in < AT_ONCE, "{plan:?}: a new reference was delayed for {bought_in:?}");
    }
    assert_eq!((held, new), (0, count));
    runtime.block_on(env.comes_to_rest());
    assert_sound(&env, |_| String::new());
}

/// Prints one line for the reader of the test output.
fn report(outcomes: &[Outcome], held: usize, new: usize) {
    let count = outcomes.len();
    let hung_up = outcomes.iter().filter(|outcome| outcome.plan.patience < outcome.plan.hold).count();
    let longest = outcomes.iter().map(|outcome| outcome.plan.hold).max().unwrap_or_default();
    let slowest = outcomes.iter().map(|outcome| outcome.bought_in).max().unwrap_or_default();
    println!(
        "told 404 {count} times; {count} held confirms delivered after it ({hung_up} of clients that had hung up; held for \
         {longest:?} at most), {held} bought; {new} bought under a new reference, the slowest in {slowest:?}"
    );
}

/// The last confirm of this order. On a busy machine the utility may not be reached in time. Then nothing was bought, and the till
/// tries again.
async fn buys(env: &FaultEnv, integrator: &Integrator, order: &Order) -> Exchange {
    let mut exchange = integrator.confirm(env.url(), order, PATIENT).await;
    for _ in 1..TRIES {
        if exchange.claim() == Claim::NotBought {
            exchange = integrator.confirm(env.url(), order, PATIENT).await;
        }
    }
    exchange
}

/// The number of purchases under external references that are LIKE this.
fn purchases(env: &FaultEnv, like: &str) -> usize {
    let count = "SELECT count(*) FROM purchases WHERE external_reference LIKE";
    env.asks(&format!("{count} {like}")).parse().unwrap()
}

fn plan(number: usize, pause: Duration, longest: Duration, seed: &mut Seed) -> Plan {
    let hold = below(longest, seed);
    let patience =
        if seed.choose(&[true, false]) { hold + PATIENT } else { below(hold, seed).max(SHORTEST_PATIENCE) };
    Plan { number, begins_after: pause * u32::try_from(number).unwrap(), hold, patience }
}

fn below(bound: Duration, seed: &mut Seed) -> Duration {
    let milliseconds: Vec<u64> = (0..=u64::try_from(bound.as_millis()).unwrap()).collect();
    Duration::from_millis(seed.choose(&milliseconds))
}

/// The client hands its confirm to the proxy, gets 404 from retry, and buys under a new reference. Then the proxy
/// delivers.
async fn run(env: &Arc<FaultEnv>, plan: Plan) -> Outcome {
    tokio::time::sleep(plan.begins_after).await;
    let integrator = env.integrators.iter().cycle().nth(plan.number / 2).unwrap();
    let order = order(env, plan.number, "held");
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy_url = format!("http://{}", proxy.local_addr().unwrap());
    let (says_taken, taken) = oneshot::channel();
    let (deliver, delivers) = oneshot::channel();
    let server = env.url().trim_start_matches("http://").to_owned();
    let proxied = tokio::spawn(hold_and_forward(proxy, server, says_taken, delivers));
    let client = {
        let (integrator, order) = (integrator.clone(), order.clone());
        tokio::spawn(async move { integrator.confirm(&proxy_url, &order, plan.patience).await })
    };
    taken.await.unwrap();
    let handed_over = SystemClock.monotonic();
    let told = integrator.retry(env.url(), &order, PATIENT).await;
    assert_eq!(told.claim(), Claim::Absent, "{plan:?}: {told:?}");
    let held_for = SystemClock.monotonic().elapsed_since(handed_over);
    deliver.send(plan.hold.saturating_sub(held_for)).unwrap();
    let again =
        Order { external_reference: order.external_reference.replace("held", "new"), ..order.clone() };
    let began = SystemClock.monotonic();
    let bought = buys(env, integrator, &again).await;
    let bought_in = SystemClock.monotonic().elapsed_since(began);
    assert!(matches!(bought.claim(), Claim::Bought { .. }), "{plan:?}: {bought:?}");
    client.await.unwrap();
    Outcome { plan, delivered: proxied.await.unwrap(), bought_in }
}

fn order(env: &FaultEnv, number: usize, prefix: &str) -> Order {
    let integrator = env.integrators.iter().cycle().nth(number / 2).unwrap();
    Order {
        account: integrator.account(number.is_multiple_of(3)).0,
        subscriber: env.takes_meter(),
        external_reference: format!("{prefix}-{number}"),
        amount: format!("{}.50", 10 + number % 90),
        route: Route::of(number).keyed(number.is_multiple_of(4)),
    }
}

/// Reads one whole request and waits for the remaining hold. Then it delivers the request over a connection that
/// stays open, even if its client has hung up.
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
    // The client may have hung up.
    let _may_be_gone = client.write_all(&answer).await;
    let text = String::from_utf8(answer).unwrap();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    Delivered { status, retry_after: header(&text, "retry-after").unwrap_or_default(), text }
}

/// A head and the number of body bytes that it declares.
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
        assert!(read > 0, "the connection ended before the message was complete");
    }
}

fn header<T: std::str::FromStr>(message: &str, name: &str) -> Option<T> {
    let named = |line: &str| {
        let (its, value) = line.split_once(':')?;
        its.eq_ignore_ascii_case(name).then(|| value.trim().parse().ok())?
    };
    message.lines().take_while(|line| !line.is_empty()).find_map(named)
}

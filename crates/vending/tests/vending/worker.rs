//! The worker: it looks at due purchases, enquires about them and ends them, in its own time and without a
//! request.

use std::cell::Cell;
use std::time::Duration;

use provider::scripted::NextEnquiry::Answers;
use provider::scripted::NextVend::{NeverArrives, VendsAndAnswersOnceOpened, VendsButReplyIsLost};
use provider::scripted::{Conduct, Latch};
use purchase::PurchaseRequest;
use vend::{Capabilities, Enquiry};
use vending::{WorkDone, WorkerSettings};

use crate::env::{ALMOST_A_LEASE, Merchant, NEIGHBOUR, Plan, TestEnv, assert_unknown, meter, until};

const FIRST_LOOK: Duration = Duration::from_secs(5);
const WINDOW: Duration = Duration::from_mins(30);

impl Merchant<'_> {
    /// Loses the replies to purchases for these meters.
    pub async fn is_left_in_doubt_about(&self, meters: std::ops::Range<u32>) {
        for number in meters {
            self.env.utility.will([VendsButReplyIsLost]);
            assert_unknown(&self.confirms(self.request_for(number)).await);
        }
    }

    /// The same, from the other provider.
    async fn is_left_in_doubt_by_the_neighbour_about(&self, meters: std::ops::Range<u32>) {
        for number in meters {
            self.env.neighbour.will([VendsButReplyIsLost]);
            let request = PurchaseRequest { provider_code: NEIGHBOUR.into(), ..self.request_for(number) };
            assert_unknown(&self.confirms(request).await);
        }
    }

    fn request_for(&self, number: u32) -> PurchaseRequest {
        PurchaseRequest { subscriber: meter(&format!("0400000{number:04}")), ..self.request("10.00") }
    }
}

/// Nothing is declared about refusals, nor about enquiries that find no record.
const REPEATS_ONLY: Capabilities = Capabilities { repeat_is_safe: true, ..Capabilities::NONE };

fn quick() -> WorkerSettings {
    WorkerSettings { idle_pause_ms: 5, drain_s: 30, ..WorkerSettings::default() }
}

#[tokio::test]
async fn a_lost_reply_is_settled_although_no_caller_asks_for_it() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    merchant.is_left_in_doubt("100.00").await;
    assert_eq!(env.vending.work_once().await, WorkDone { claimed: 0, ended: 0 }, "it is too early");

    env.time_passes(FIRST_LOOK);
    assert_eq!(env.vending.work_once().await, WorkDone { claimed: 1, ended: 1 });
    env.utility.saw(["check", "vend #1", "enquire #1"]);
    assert_eq!(env.vending.work_once().await, WorkDone::default(), "nothing is left to do");

    let record = merchant.retries().await.unwrap();
    assert_eq!(env.history(record.id), "RESERVED LOST CLAIMED VENDED");
    merchant.has("98.50", "0");
    merchant.has_earned("1.00");
    env.closes().await;
}

#[tokio::test]
async fn a_self_managed_purchase_is_asked_about_and_never_sent_again() {
    let env = TestEnv::of(Plan { declared: REPEATS_ONLY, ..Plan::default() }).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    let looks = env.works_for(WINDOW + WINDOW).await;
    assert!((10..40).contains(&looks.len()), "{looks:?}");
    env.utility.saw(["check", "vend #1"].into_iter().chain(vec!["enquire #1"; looks.len()]));
    assert_eq!(env.sql("SELECT state, copies, requests FROM purchases"), "REVIEW|1|0");
    merchant.has("200.00", "101.50");
    env.closes().await;
}

#[tokio::test]
async fn what_is_unknown_when_the_window_closes_goes_to_review_and_is_still_asked_about() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    env.utility.will_tell(vec![Answers(Box::new(Enquiry::NoRecord)); 100]);
    merchant.is_left_in_doubt("100.00").await;
    let before = env.works_for(Duration::from_secs(1_795)).await;
    assert_eq!(env.states(), "IN_DOUBT");
    let at_the_end = env.works_for(FIRST_LOOK * 2).await;
    assert_eq!(
        (env.states().as_str(), at_the_end.len()),
        ("REVIEW", 1),
        "the end of the window is not missed"
    );
    merchant.has("200.00", "101.50");

    let answers_left = 100 - before.len() - at_the_end.len();
    let afterwards = env.works_for(Duration::from_hours(24)).await;
    assert_eq!(env.states(), "SUCCESSFUL", "the first true answer settles it");
    assert_eq!(afterwards.len(), answers_left + 1);
    let pauses = afterwards.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let longest = pauses.max().unwrap();
    assert!(longest.abs_diff(Duration::from_mins(15)) < Duration::from_secs(1), "{longest:?}");
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_purchase_whose_sender_is_at_work_is_left_alone_until_its_lease_has_run_out() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let meanwhile = async {
        env.is_vending().await;
        env.time_passes(ALMOST_A_LEASE);
        assert_eq!(env.works_once().await, 0);
        env.utility.saw(["check", "vend #1"]);
        env.time_passes(Duration::from_secs(10));
        assert_eq!(env.vending.work_once().await, WorkDone { claimed: 1, ended: 1 });
        answer.open();
    };
    let (confirmed, ()) = tokio::join!(merchant.buys("100.00"), meanwhile);
    assert_eq!(confirmed.ok(), merchant.retries().await.ok());
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_provider_that_hangs_fills_its_own_slots_and_no_other_providers() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("900.00").await;
    env.lets_the_neighbour_sell(merchant.authority.organisation).await;
    merchant.is_left_in_doubt_by_the_neighbour_about(0..5).await;
    merchant.is_left_in_doubt_about(5..20).await;
    let hangs = env.neighbours_line.holds_enquiries();
    env.time_passes(FIRST_LOOK);

    let settings = WorkerSettings { slots_per_provider: 3, ..quick() };
    let watched = async {
        let ended = || env.count("purchases WHERE state = 'SUCCESSFUL'") == 15;
        until("everything of the other provider has ended", ended).await;
        assert_eq!(env.neighbours_line.held_enquiries(), 3, "as many as it has slots");
        let in_hand = "purchases WHERE lease_until IS NOT NULL";
        assert_eq!(env.count(in_hand), 3, "no more are claimed than are worked on");
        hangs.open();
        until("everything has ended", || env.count("purchases WHERE ended_at IS NULL") == 0).await;
    };
    env.works_until(&settings, watched).await;
    env.every_purchase_was_asked_about_once();
    env.closes().await;
}

#[tokio::test]
async fn a_worker_that_is_told_to_stop_claims_nothing_more_and_lets_what_is_under_way_end() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("900.00").await;
    merchant.is_left_in_doubt_about(0..2).await;
    let hangs = env.line.holds_enquiries();
    env.time_passes(FIRST_LOOK);
    let settings = WorkerSettings { slots_per_provider: 1, ..quick() };
    let is_told = Cell::new(false);
    let told_to = async {
        until("it is asking", || env.line.held_enquiries() == 1).await;
        is_told.set(true);
    };
    let answered_later = async {
        until("it is told to stop", || is_told.get()).await;
        hangs.open();
    };
    tokio::join!(env.works_until(&settings, told_to), answered_later);
    assert_eq!(env.states(), "SUCCESSFUL IN_DOUBT");
    assert_eq!(env.count("purchases WHERE lease_until IS NOT NULL"), 0);
    env.closes().await;
}

#[tokio::test]
async fn work_goes_on_when_the_database_is_back() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    merchant.is_left_in_doubt("100.00").await;
    env.time_passes(FIRST_LOOK);
    env.wire.is_cut();
    let away = async {
        until("it is tried again", || env.wire.turned_away() > 3).await;
        env.wire.is_restored();
        env.comes_to("SUCCESSFUL").await;
    };
    env.works_until(&quick(), away).await;
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_declaration_is_read_anew_by_every_claim() {
    let env = TestEnv::of(Plan { conduct: Conduct::ANSWERS_REPEATS, ..Plan::default() }).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    env.works_for(Duration::from_mins(12)).await;
    assert_eq!(env.states(), "IN_DOUBT");
    env.declares(Conduct::ANSWERS_REPEATS.capabilities()).await;
    env.works_for(Duration::from_mins(30)).await;
    assert_eq!(env.states(), "FAILED", "no record counts now");
    merchant.has("200.00", "0");
    env.closes().await;
}

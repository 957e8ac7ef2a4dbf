//! The worker: what is due is looked at, asked about and ended, in its own time and without anybody's asking.

use std::cell::Cell;
use std::time::Duration;

use provider::scripted::NextEnquiry::Answers;
use provider::scripted::NextVend::{NeverArrives, VendsAndAnswersOnceOpened, VendsButReplyIsLost};
use provider::scripted::{Conduct, Latch};
use purchase::PurchaseRequest;
use vend::{Capabilities, Enquiry};
use vending::{WorkDone, WorkerSettings};

use crate::town::{ALMOST_A_LEASE, NEIGHBOUR, Plan, Shop, Town, assert_unknown, meter, until};

const FIRST_LOOK: Duration = Duration::from_secs(5);
const WINDOW: Duration = Duration::from_mins(30);

impl Shop<'_> {
    /// Has the replies to purchases for so many meters lost.
    pub async fn is_left_in_doubt_about(&self, meters: std::ops::Range<u32>) {
        for number in meters {
            self.town.utility.will([VendsButReplyIsLost]);
            assert_unknown(&self.confirms(self.request_for(number)).await);
        }
    }

    /// The same, from the other provider.
    async fn is_left_in_doubt_by_the_neighbour_about(&self, meters: std::ops::Range<u32>) {
        for number in meters {
            self.town.neighbour.will([VendsButReplyIsLost]);
            let request = PurchaseRequest { provider_code: NEIGHBOUR.into(), ..self.request_for(number) };
            assert_unknown(&self.confirms(request).await);
        }
    }

    fn request_for(&self, number: u32) -> PurchaseRequest {
        PurchaseRequest { subscriber: meter(&format!("0400000{number:04}")), ..self.request("10.00") }
    }
}

/// Nothing is declared about enquiries that find nothing, nor about refusals.
const REPEATS_ONLY: Capabilities = Capabilities { repeat_is_safe: true, ..Capabilities::NONE };

fn quick() -> WorkerSettings {
    WorkerSettings { idle_pause_ms: 5, drain_s: 30, ..WorkerSettings::default() }
}

#[tokio::test]
async fn a_lost_reply_is_settled_though_nobody_asks_for_it() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    shop.is_left_in_doubt("100.00").await;
    assert_eq!(town.vending.work_once().await, WorkDone { claimed: 0, ended: 0 }, "it is too early");

    town.time_passes(FIRST_LOOK);
    assert_eq!(town.vending.work_once().await, WorkDone { claimed: 1, ended: 1 });
    town.utility.saw(["check", "vend #1", "enquire #1"]);
    assert_eq!(town.vending.work_once().await, WorkDone::default(), "nothing is left to do");

    let record = shop.retries().await.unwrap();
    assert_eq!(town.history(record.id), "RESERVED LOST CLAIMED VENDED");
    shop.has("98.50", "0");
    shop.has_earned("1.00");
    town.closes().await;
}

#[tokio::test]
async fn a_self_managed_purchase_is_asked_about_and_never_sent_again() {
    let town = Town::of(Plan { declared: REPEATS_ONLY, ..Plan::default() }).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    let looks = town.works_for(WINDOW + WINDOW).await;
    assert!((10..40).contains(&looks.len()), "{looks:?}");
    town.utility.saw(["check", "vend #1"].into_iter().chain(vec!["enquire #1"; looks.len()]));
    assert_eq!(town.sql("SELECT state, copies, requests FROM purchases"), "REVIEW|1|0");
    shop.has("200.00", "101.50");
    town.closes().await;
}

#[tokio::test]
async fn what_is_unknown_when_the_window_closes_goes_to_review_and_is_still_asked_about() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    town.utility.will_tell(vec![Answers(Box::new(Enquiry::NoRecord)); 100]);
    shop.is_left_in_doubt("100.00").await;
    let before = town.works_for(Duration::from_secs(1_795)).await;
    assert_eq!(town.states(), "IN_DOUBT");
    let at_the_end = town.works_for(FIRST_LOOK * 2).await;
    assert_eq!(
        (town.states().as_str(), at_the_end.len()),
        ("REVIEW", 1),
        "the end of the window is not missed"
    );
    shop.has("200.00", "101.50");

    let answers_left = 100 - before.len() - at_the_end.len();
    let afterwards = town.works_for(Duration::from_hours(24)).await;
    assert_eq!(town.states(), "SUCCESSFUL", "the first true answer settles it");
    assert_eq!(afterwards.len(), answers_left + 1);
    let pauses = afterwards.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let longest = pauses.max().unwrap();
    assert!(longest.abs_diff(Duration::from_mins(15)) < Duration::from_secs(1), "{longest:?}");
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_purchase_whose_sender_is_at_work_is_left_alone_until_its_lease_has_run_out() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let meanwhile = async {
        town.is_vending().await;
        town.time_passes(ALMOST_A_LEASE);
        assert_eq!(town.works_once().await, 0);
        town.utility.saw(["check", "vend #1"]);
        town.time_passes(Duration::from_secs(10));
        assert_eq!(town.vending.work_once().await, WorkDone { claimed: 1, ended: 1 });
        answer.open();
    };
    let (confirmed, ()) = tokio::join!(shop.buys("100.00"), meanwhile);
    assert_eq!(confirmed.ok(), shop.retries().await.ok());
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_provider_that_hangs_fills_its_own_slots_and_no_other_providers() {
    let town = Town::open().await;
    let shop = town.shop_with("900.00").await;
    town.lets_the_neighbour_sell(shop.authority.organisation).await;
    shop.is_left_in_doubt_by_the_neighbour_about(0..5).await;
    shop.is_left_in_doubt_about(5..20).await;
    let hangs = town.neighbours_line.holds_enquiries();
    town.time_passes(FIRST_LOOK);

    let settings = WorkerSettings { slots_per_provider: 3, ..quick() };
    let watched = async {
        let ended = || town.count("purchases WHERE state = 'SUCCESSFUL'") == 15;
        until("everything of the other provider has ended", ended).await;
        assert_eq!(town.neighbours_line.held_enquiries(), 3, "as many as it has slots");
        let in_hand = "purchases WHERE lease_until IS NOT NULL";
        assert_eq!(town.count(in_hand), 3, "no more are claimed than are worked on");
        hangs.open();
        until("everything has ended", || town.count("purchases WHERE ended_at IS NULL") == 0).await;
    };
    town.works_until(&settings, watched).await;
    town.every_purchase_was_asked_about_once();
    town.closes().await;
}

#[tokio::test]
async fn a_worker_that_is_told_to_stop_claims_nothing_more_and_lets_what_is_under_way_end() {
    let town = Town::open().await;
    let shop = town.shop_with("900.00").await;
    shop.is_left_in_doubt_about(0..2).await;
    let hangs = town.line.holds_enquiries();
    town.time_passes(FIRST_LOOK);
    let settings = WorkerSettings { slots_per_provider: 1, ..quick() };
    let is_told = Cell::new(false);
    let told_to = async {
        until("it is asking", || town.line.held_enquiries() == 1).await;
        is_told.set(true);
    };
    let answered_later = async {
        until("it is told to stop", || is_told.get()).await;
        hangs.open();
    };
    tokio::join!(town.works_until(&settings, told_to), answered_later);
    assert_eq!(town.states(), "SUCCESSFUL IN_DOUBT");
    assert_eq!(town.count("purchases WHERE lease_until IS NOT NULL"), 0);
    town.closes().await;
}

#[tokio::test]
async fn work_goes_on_when_the_database_is_back() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    shop.is_left_in_doubt("100.00").await;
    town.time_passes(FIRST_LOOK);
    town.wire.is_cut();
    let away = async {
        until("it is tried again", || town.wire.turned_away() > 3).await;
        town.wire.is_mended();
        town.comes_to("SUCCESSFUL").await;
    };
    town.works_until(&quick(), away).await;
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_declaration_is_read_anew_by_every_claim() {
    let town = Town::of(Plan { conduct: Conduct::ANSWERS_REPEATS, ..Plan::default() }).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    town.works_for(Duration::from_mins(12)).await;
    assert_eq!(town.states(), "IN_DOUBT");
    town.declares(Conduct::ANSWERS_REPEATS.capabilities()).await;
    town.works_for(Duration::from_mins(30)).await;
    assert_eq!(town.states(), "FAILED", "no record counts now");
    shop.has("200.00", "0");
    town.closes().await;
}

//! A provider that lists whatever a test says.

use std::{
    collections::VecDeque,
    fs,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use chrono::{TimeDelta, TimeZone as _};
use clap::Parser;
use money::{Currency, Money};
use operator_reports::statement::{self, StatementFileError, StatementForm};
use provider::Gate;
use vend::{
    CallId, Customer, Enquiry, Product, Quotation, Refusal, RefusalReason, Sale, SubscriberIdentifier,
    VendOrder, VendOutcome,
};

use super::*;

/// What a provider says about one page.
enum Answer {
    Page(StatementPage),
    None(NoStatement),
}

/// Gives these answers, one for each question, and notes which page was asked for.
#[derive(Default)]
struct Lister {
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<u32>>,
}

impl Lister {
    fn answering(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), ..Self::default() }
    }
}

fn unanswered(why: Unanswered) -> Answer {
    Answer::None(NoStatement::Unanswered(why))
}

#[async_trait]
impl Provider for Lister {
    async fn check(&self, _: CallId, _: Product, _: &SubscriberIdentifier) -> Result<Customer, Unanswered> {
        panic!("a statement checks no customer")
    }

    async fn quote(&self, _: CallId, _: &Sale) -> Result<Quotation, Unanswered> {
        panic!("a statement quotes nothing")
    }

    async fn trial(&self, _: CallId, _: &Sale) -> Result<Quotation, Unanswered> {
        panic!("a statement tries nothing")
    }

    async fn vend(&self, _: &VendOrder, _: &Gate) -> VendOutcome {
        panic!("a statement vends nothing")
    }

    async fn enquire(&self, _: CallId, _: &VendOrder) -> Enquiry {
        panic!("a statement enquires about no order")
    }

    async fn statement(&self, asked: &StatementRequest) -> Result<StatementPage, NoStatement> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked.page.get());
        let answer = self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        match answer.expect("no more pages are asked for than there are") {
            Answer::Page(page) => Ok(page),
            Answer::None(why) => Err(why),
        }
    }
}

/// Longer than a reference can be.
const LONG: &str = concat!(
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
);

fn midnight() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 25, 22, 0, 0).unwrap()
}

fn pula(minor: i64) -> Money {
    Money::from_minor(minor, Currency::parse("BWP").unwrap())
}

fn sale(reference: Option<&str>) -> ListedState {
    ListedState::Vended(ListedSale {
        reference: reference.map(str::to_owned),
        product: Product::Airtime,
        subscriber: SubscriberIdentifier::parse("26771234567").unwrap(),
        amount: pula(1_050),
    })
}

fn order(number: u32, state: ListedState) -> ListedOrder {
    ListedOrder { transaction: number.to_string(), ordered_at: midnight() + TimeDelta::hours(1), state }
}

fn vended(number: u32) -> ListedOrder {
    order(number, sale(Some(&format!("20261125230000-{number:06}"))))
}

fn page(orders: impl Into<Vec<ListedOrder>>, orders_in_all: u64) -> Answer {
    Answer::Page(StatementPage { orders: orders.into().into_iter().map(Ok).collect(), orders_in_all })
}

/// The form of a file of ours.
#[derive(Parser)]
struct Form {
    #[command(flatten)]
    form: StatementForm,
}

struct Fetch {
    result: Result<Fetched, String>,
    /// What is in the file. `None` if there is no file, and no part of one.
    file: Option<String>,
    asked: Vec<u32>,
}

fn source(lister: &Lister) -> Source<'_> {
    Source { code: "AIRTIME", provider: lister, between_tries: Duration::ZERO }
}

fn file(name: &str) -> PathBuf {
    let file = std::env::temp_dir().join(format!("vendgate-{}-{name}.csv", std::process::id()));
    let _absent = fs::remove_file(&file);
    file
}

async fn fetched(name: &str, answers: impl IntoIterator<Item = Answer>) -> Fetch {
    fetched_since(midnight(), name, answers).await
}

async fn fetched_since(from: DateTime<Utc>, name: &str, answers: impl IntoIterator<Item = Answer>) -> Fetch {
    let lister = Lister::answering(answers);
    let path = file(name);
    let period = (from, midnight() + TimeDelta::days(1));
    let result = source(&lister).fetch(period, &path).await.map_err(|error| error.to_string());
    let file = fs::read_to_string(&path).ok();
    let _absent = fs::remove_file(&path);
    Fetch { result, file, asked: lister.asked.into_inner().unwrap_or_else(PoisonError::into_inner) }
}

#[tokio::test]
async fn all_pages_are_read_and_the_file_has_what_was_vended_in_the_period() {
    let at = |number, at| ListedOrder { ordered_at: at, ..vended(number) };
    let answers = [
        page([vended(1), order(2, ListedState::StillOpen), order(3, sale(None))], 6),
        page([order(4, ListedState::NotVended), at(8, midnight())], 6),
        page([at(9, midnight() + TimeDelta::days(1))], 6),
    ];
    let Fetch { result, file, asked } = fetched("pages", answers).await;
    let still_open = vec!["2".to_owned()];
    assert_eq!(result, Ok(Fetched { vended: 3, still_open, not_vended: 1, outside_period: 1 }));
    assert_eq!(asked, [1, 2, 3]);
    let expected = "reference,transaction,time,product,subscriber,amount,currency\n\
         20261125230000-000001,1,2026-11-25T23:00:00+00:00,AIRTIME,26771234567,10.50,BWP\n\
         no-reference-3,3,2026-11-25T23:00:00+00:00,AIRTIME,26771234567,10.50,BWP\n\
         20261125230000-000008,8,2026-11-25T22:00:00+00:00,AIRTIME,26771234567,10.50,BWP\n";
    assert_eq!(file.as_deref(), Some(expected));
}

#[tokio::test]
async fn reconcile_reads_every_file_that_was_fetched_whatever_a_person_has_entered_as_the_reference() {
    let references =
        [None, Some(""), Some("  "), Some("a,\"b\""), Some("=1+1"), Some(LONG), Some("line\nline")];
    let orders: Vec<_> = (1..).zip(references).map(|(number, one)| order(number, sale(one))).collect();
    let (path, in_all) = (file("readable"), u64::try_from(references.len()).unwrap());
    let lister = Lister::answering([page(orders, in_all)]);
    let period = (midnight(), midnight() + TimeDelta::days(1));
    source(&lister).fetch(period, &path).await.unwrap();
    let mut found = Vec::new();
    let form = Form::parse_from(["form"]).form.reading(chrono_tz::Tz::UTC);
    statement::check(&path, form, |line| {
        found.push((line.vend.provider_reference.clone(), line.vend.net));
        Ok::<_, StatementFileError>(())
    })
    .unwrap();
    let references = ["no-reference-1", "no-reference-2", "no-reference-3", "a,\"b\"", "=1+1"];
    let references = [&references[..], &["no-reference-6", "no-reference-7"]].concat();
    let expected: Vec<_> = references.iter().map(|one| ((*one).to_owned(), pula(1_050))).collect();
    assert_eq!(found, expected);
    fs::remove_file(&path).unwrap();
}

#[tokio::test]
async fn an_order_of_the_first_second_of_the_period_is_in_it() {
    let from = midnight() + TimeDelta::milliseconds(900);
    let at = |at| page([ListedOrder { ordered_at: at, ..vended(1) }], 1);
    let first_second = fetched_since(from, "first-second", [at(midnight())]).await;
    assert_eq!(first_second.result.map(|fetched| fetched.vended), Ok(1));
    let before = fetched_since(from, "before", [at(midnight() - TimeDelta::seconds(1))]).await;
    assert_eq!(before.result.map(|fetched| fetched.vended), Ok(0));
}

#[tokio::test]
async fn a_list_that_changes_while_it_is_read_leaves_no_file() {
    let of_two = |second| [page([vended(1)], 2), second];
    for (name, answers) in [
        ("grew", of_two(page([vended(2)], 3))),
        ("moved", of_two(page([vended(1)], 2))),
        ("shrank", of_two(page([], 2))),
        ("overflowed", of_two(page([vended(2), vended(3)], 2))),
    ] {
        let Fetch { result, file, .. } = fetched(name, answers).await;
        let told = result.unwrap_err();
        assert!(told.starts_with("the list of AIRTIME changed while it was read, or"), "{name}: {told}");
        assert_eq!(file, None, "{name}");
    }
}

#[tokio::test]
async fn a_page_without_an_answer_is_asked_for_again_and_a_refusal_is_final() {
    let silent = || unanswered(Unanswered::NoAnswer(Doubt::TimedOut));
    let again = [silent(), unanswered(Unanswered::Unreachable), page([vended(1)], 1)];
    let Fetch { result, asked, .. } = fetched("again", again).await;
    assert_eq!((result.map(|fetched| fetched.vended), asked), (Ok(1), vec![1, 1, 1]));

    let given_up = fetched("given-up", [page([vended(1)], 2), silent(), silent(), silent()]).await;
    assert!(
        given_up.result.unwrap_err().starts_with("AIRTIME did not give its list: it did not answer in time;")
    );
    assert_eq!((given_up.file, given_up.asked), (None, vec![1, 2, 2, 2]));

    let refusal = unanswered(Unanswered::Refused(Refusal::because(RefusalReason::Misconfigured)));
    let refused = fetched("refused", [refusal]).await;
    assert!(refused.result.unwrap_err().starts_with("AIRTIME refused our credentials or settings;"));
    assert_eq!((refused.file, refused.asked), (None, vec![1]));

    let none = fetched("no-list", [Answer::None(NoStatement::NotInProtocol)]).await;
    assert!(none.result.unwrap_err().starts_with("the protocol of AIRTIME has no list of orders;"));
    let unset = Answer::None(NoStatement::SettingMissing("report_time_zone"));
    let told = fetched("unset", [unset]).await.result.unwrap_err();
    assert!(told.starts_with("the section [providers.airtime] has no report_time_zone, which"), "{told}");
}

#[tokio::test]
async fn an_order_that_the_adapter_cannot_read_is_named_and_not_guessed() {
    let unreadable = UnreadableOrder { transaction: Some("2".to_owned()), field: "status" };
    let orders = vec![Ok(vended(1)), Err(unreadable)];
    let answers = [Answer::Page(StatementPage { orders, orders_in_all: 2 })];
    let Fetch { result, file, .. } = fetched("unreadable", answers).await;
    let told = result.unwrap_err();
    assert!(
        told.starts_with("AIRTIME lists transaction 2, of which the status cannot be read. It"),
        "{told}"
    );
    assert_eq!(file, None);
}

#[tokio::test]
async fn a_file_that_exists_is_not_replaced() {
    let path = file("exists");
    fs::write(&path, "evidence").unwrap();
    let period = (midnight(), midnight() + TimeDelta::days(1));
    let lister = Lister::default();
    let refused = source(&lister).fetch(period, &path).await.unwrap_err().to_string();
    assert!(refused.starts_with(&format!("{} exists, and is not replaced;", path.display())), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "evidence");
    fs::remove_file(&path).unwrap();
}

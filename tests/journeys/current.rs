//! The Current surface, which is frozen: snapshots of every answer that it gives.

mod entry;
mod layout;
mod page;
mod refusals;
mod retries;
mod sessions;
mod topups;
mod trials;

use std::{collections::BTreeSet, fs, panic::AssertUnwindSafe};

use error_codes::ErrorCode;
use futures_util::FutureExt;
use tokio::sync::OnceCell;

use page::{LANGUAGES, Page, directory};

const WRITE: &str = "cargo test -p acceptance --test journeys -- --ignored write_the_frozen_answers";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_of_the_frozen_surface_is_as_it_was() {
    let changes: Vec<String> = pages().await.iter().filter_map(Page::change).collect();
    assert!(
        changes.is_empty(),
        "The surface is frozen, so undo what changed it. What was added may be kept by `{WRITE}`.\n\n{}",
        changes.join("\n")
    );
}

/// Codes that are newer than the surface, which never answers them.
const NEWER: [ErrorCode; 1] = [ErrorCode::CertificatesDisabled];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_code_is_among_the_frozen_answers_in_every_language() {
    let kept: BTreeSet<&(String, &str)> = pages().await.iter().flat_map(Page::codes).collect();
    for code in ErrorCode::ALL.into_iter().filter(|code| !NEWER.contains(code)) {
        for (language, _) in LANGUAGES {
            assert!(kept.contains(&(code.to_string(), language)), "{code} is not told in {language}");
        }
    }
    let exchanges: usize = pages().await.iter().map(Page::exchanges).sum();
    assert!(exchanges >= 100, "{exchanges} exchanges are kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_frozen_answer_is_left_over() {
    let produced: BTreeSet<_> = pages().await.iter().map(Page::file).collect();
    let kept: BTreeSet<_> = fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept, produced);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "writes what is frozen"]
async fn write_the_frozen_answers() {
    pages().await.iter().for_each(Page::write);
}

/// All pages, produced once.
async fn pages() -> &'static [Page] {
    static PAGES: OnceCell<Option<Vec<Page>>> = OnceCell::const_new();
    let asked = async || AssertUnwindSafe(Box::pin(all())).catch_unwind().await.ok();
    let pages = Box::pin(PAGES.get_or_init(asked)).await;
    pages.as_ref().expect("the first test reports why the pages could not be produced")
}

async fn all() -> Vec<Page> {
    let (sessions, validate, confirm, retry, closed, refusals, providers, by_service) = tokio::join!(
        sessions::page(),
        topups::quotes(),
        topups::purchases(),
        retries::page(),
        entry::page(),
        refusals::of_requests(),
        refusals::of_providers(),
        refusals::by_the_service(),
    );
    vec![sessions, validate, confirm, retry, closed, refusals, providers, by_service]
}

//! What the people who run the service do: wallets and payments, acts that need two people, the vends that are missing after a
//! restore, how much work waits, the standing checks of the books, housekeeping, what is stored about one person, and archives of
//! history.

mod accounts;
mod approvals;
mod archive;
mod books;
mod checks;
mod gauges;
mod health;
mod housekeeping;
mod low_wallets;
mod measures;
mod payouts;
#[cfg(test)]
mod plans;
mod posted_entry;
mod privacy;
mod rule;
mod schema;
mod system_account;
mod unmatched_vends;

pub use accounts::{
    AccountChange, AccountRecord, AccountRefusal, AccountStatus, Foreseen, Movement, NewAccount,
    OpenedAccount, Paid, Payment, PaymentError, PaymentRefusal, Reversal, ReverseError, StatementLine,
    StatementQuery, WalletStatement, account_statement, accounts_of, change_account, find_account,
    open_account, open_account_for_staging, pay, rehearse_payment, reverse_payment, set_account_status,
    staging_load, top_up,
};
pub use approvals::{
    ActKind, ApprovalRequest, ApproveError, NewRequest, RequestDecision, RequestSubject, SECRET_COLUMN,
    SealedRequest, Threshold, approve_request, find_request, find_request_about, find_token_of_request,
    list_requests, list_requests_of_wallet, list_thresholds, needs_approval, rehearse_approval,
    reject_request, request_approval, set_threshold,
};
pub use archive::{
    ArchiveError, ArchiveName, ArchivePage, ArchiveRecord, list_archives, note_archive, read_for_archive,
    remove_archived,
};
pub use books::{
    AccountKey, AccountLine, AccountReport, AccountReportError, BookCause, BookKey, BookLine, BookMove,
    BookOpening, BookPart, BookReport, Division, OrganisationSales, report_accounts, report_books,
    report_sales,
};
pub use checks::{CheckProgress, Invariant, Violation, check_books};
pub use gauges::{Backlog, OpenDiscrepancies, OpenWork, count_open};
pub use health::{DatabaseHealth, read_database_health};
pub use housekeeping::{
    Erased, FeedKept, FeedSettings, FeedSettingsError, Purged, RetentionSettings, apply_retention, keep_feed,
    purge_expired, tell_of_pauses,
};
pub use low_wallets::{LowWallet, list_low_wallets, show_low_wallets};
pub use measures::{describe_metrics, show_breakers, show_floats, show_violations};
pub use payouts::{PaidOut, Payee, Payout, PayoutReversal, pay_out, reverse_payout};
pub use posted_entry::{Posted, ReferredEntry, find_referred};
pub use privacy::{EraseError, Person, PersonErased, PersonExport, erase_person, export_person};
pub use rule::Rule;
pub use unmatched_vends::{
    EnteredVends, Standing, UnmatchedVendError, UnmatchedVendRecord, VendDecision, decide_unmatched_vends,
    enter_unmatched_vends, find_standings, list_unmatched_vends, rehearse_unmatched_vends,
};

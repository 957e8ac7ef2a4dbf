//! The purchase: what an integrator asks for, what it costs, and how it ends.
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(missing_docs)]

mod allow_list;
mod authority;
mod catalogue;
mod confirm;
mod event;
mod idempotency;
mod lifecycle;
mod listing;
mod next;
mod notice;
mod pattern;
mod plan;
mod pricing;
mod printed;
mod record;
mod recorded;
mod recovery;
mod reference;
mod refused_confirm;
mod request;
mod request_hash;
mod resolve;
mod sales;
#[cfg(feature = "serde")]
mod serde;
mod statement;
mod step;
mod timing;

pub use allow_list::AllowList;
pub use authority::{AccessTokenId, Authority, ClientId, OrganisationId, UserId};
pub use catalogue::{FormatError, Offer, ProductText, SubscriberFormat};
pub use confirm::{Confirm, ConfirmCommand, ConfirmInput, OutOfTurn};
pub use event::{Event, EventKind, RefusalSource, TimedEvent};
pub use idempotency::{IdempotencyKey, IdempotencyKeyError, KeyedRequest, holds_its_key};
pub use lifecycle::{Fence, Handling, Lifecycle, Sending, State, StateName};
pub use listing::{Buyer, LookUp, Page, Position, PurchaseStatus, PurchaseWithBuyer, Selection};
pub use next::{Effect, Illegal, Incident, Next, Why};
pub use notice::{Channel, Notice, NoticeKind, Recipient, notices};
pub use pattern::{Pattern, PatternError};
pub use plan::RetryPlan;
pub use pricing::{FeeSchedule, Price, PriceError, Terms};
pub use printed::PrintedPurchase;
pub use record::{Failure, Record, Success};
pub use recorded::{Recorded, Reserved, Verdict};
pub use recovery::Recovery;
pub use reference::{PurchaseId, Reference};
pub use refused_confirm::RefusedConfirm;
pub use request::{NotificationFlags, PurchaseRequest, SourceChannel};
pub use request_hash::RequestHash;
pub use resolve::{Asker, Resolve, ResolveAnswer, ResolveCommand, ResolveInput};
pub use sales::{DaySales, ReportedDay, SalesReport};
pub use statement::{
    AfterLine, Extent, MovementKind, MovementPart, Period, StatedPurchase, Statement, StatementLine,
    StatementPage,
};
pub use step::{Rules, step};
pub use timing::{Timing, TimingError};

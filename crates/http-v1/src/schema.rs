//! Schemas for the OpenAPI document of values that no type of [`wire`](crate::wire) describes: closed lists, the form of money, events,
//! and what was bought.

pub mod events;
pub mod purchased;
pub mod values;

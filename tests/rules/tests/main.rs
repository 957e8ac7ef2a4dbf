//! The rules of the workspace that no compiler checks. Each failure says which rule, where, and what to do.

mod arrows;
mod cargo;
mod dashboards;
mod failures;
mod files;
mod libraries;
mod links;
mod migrations;
mod names;
mod needs;
mod packaging;
mod planted;
mod pointers;
mod recipes;
mod sizes;
mod source;
mod targets;
mod transactions;

//! Races: confirms, retries and workers that start from one barrier, and servers that are shut down during a
//! vend.

mod clocks;
mod crowd;
mod slots;
mod stopping;

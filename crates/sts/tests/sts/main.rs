//! The library from outside: the published tokens, its laws, and a meter that decodes them.

mod conformance;
mod edition_2;
mod properties;
mod virtual_meter;

//! The library from outside: the published tokens, its rules, and a meter that decodes them.

mod conformance;
mod edition_2;
mod properties;
mod security_module;
mod virtual_meter;

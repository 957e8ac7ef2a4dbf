//! The Current surface: its wire form, and what it answers to wrong inputs.

mod wire_form;
mod wrong_inputs;

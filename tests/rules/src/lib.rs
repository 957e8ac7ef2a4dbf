//! The files of the workspace, and the bugs that are planted in a copy of them to check its tests.

pub mod planted;
pub mod workspace;

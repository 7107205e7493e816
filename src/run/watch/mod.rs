//! `watch`: the loop of the core, driven.

pub mod desired;
pub mod files;
pub mod observers;
pub mod ways;

//! `watch`: the loop of the core, driven.

pub mod desired;
pub mod files;
mod interests;
pub mod observers;
pub mod polling;
mod post;
pub mod ways;

//! What a running watch shows and hears: the status file, the port with its pages, and webhooks.

pub mod ask;
pub mod face;
mod guard;
pub mod hook;
pub mod outbox;
pub mod port;
mod process;
pub mod shown;
pub mod status_file;

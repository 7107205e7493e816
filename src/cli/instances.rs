//! The flags for several instances of one watch.

use std::time::Duration;

use clap::Args;

use super::args::duration;

#[derive(Debug, Args)]
pub struct InstanceArgs {
    /// Several instances: only the one that holds this object writes, as in `--lease Lease/trueup`
    #[arg(long, value_name = "KIND/NAME", conflicts_with_all = ["once", "dry_run"], env = "TRUEUP_LEASE")]
    pub lease: Option<String>,
    /// How long a lease is good that its holder does not renew
    #[arg(long, value_name = "DURATION", value_parser = lasting, default_value = "15s", env = "TRUEUP_LEASE_DURATION")]
    pub lease_duration: Duration,
    /// With --lease: so many instances at most share the objects, by as many leases
    #[arg(long, value_name = "N", requires = "lease", value_parser = clap::value_parser!(u8).range(2..=64), env = "TRUEUP_SHARDS")]
    pub shards: Option<u8>,
}

/// Below a second, answers that are a little late would count for silence.
fn lasting(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        time if time < Duration::from_secs(1) => Err("it is less than a second".into()),
        time if time > Duration::from_secs(600) => Err("it is more than ten minutes".into()),
        time => Ok(time),
    }
}

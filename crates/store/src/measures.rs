//! The metrics of this crate. All of them are named here, so that nothing is counted under two names.

use metrics::{counter, describe_counter, describe_histogram, histogram};

const GROUP_SIZE: &str = "vendgate_lane_group_size";
const UNACKNOWLEDGED: &str = "vendgate_unacknowledged_groups_total";
const TURNED_AWAY: &str = "vendgate_turned_away_total";

/// Describes this crate's metrics to the metrics recorder.
pub fn describe_metrics() {
    describe_histogram!(GROUP_SIZE, "Reserves and records that one transaction of a lane has kept, by kind.");
    describe_counter!(UNACKNOWLEDGED, "Groups whose commit was not acknowledged. Each is run again.");
    describe_counter!(
        TURNED_AWAY,
        "Reserves that were refused because a lane was full, the database away or their wallet locked."
    );
    counter!(UNACKNOWLEDGED).absolute(0);
    counter!(TURNED_AWAY).absolute(0);
}

/// One transaction of a lane has committed this many jobs.
pub(crate) fn group_committed(reserves: usize, records: usize) {
    for (kind, jobs) in [("reserve", reserves), ("record", records)] {
        if jobs > 0 {
            histogram!(GROUP_SIZE, "kind" => kind).record(u32::try_from(jobs).unwrap_or(u32::MAX));
        }
    }
}

/// It is unknown whether a group was committed.
pub(crate) fn group_unacknowledged() {
    counter!(UNACKNOWLEDGED).increment(1);
}

/// Reserves that were refused, with nothing held.
pub(crate) fn turned_away(reserves: usize) {
    counter!(TURNED_AWAY).increment(u64::try_from(reserves).unwrap_or(u64::MAX));
}

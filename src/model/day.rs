//! Days of the calendar, all in UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

pub use jiff::civil::Date;

/// The day of `seconds` since 1970.
pub fn day_of(seconds: u64) -> Date {
    let moment = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    moment.unwrap_or(Timestamp::MAX).to_zoned(TimeZone::UTC).date()
}

/// The day of an ISO 8601 moment, as indexes write the time of an upload: `2026-11-21T23:30:00-02:00` is the 22nd. A moment without an
/// offset is taken for UTC, which PEP 700 prescribes. `None` for anything else.
pub fn day_in(text: &str) -> Option<Date> {
    let moment = text.parse::<Timestamp>().map(|moment| moment.to_zoned(TimeZone::UTC).date());
    moment.or_else(|_| text.parse::<DateTime>().map(DateTime::date)).ok()
}

#[cfg(test)]
mod tests {
    use super::{day_in, day_of};

    #[test]
    fn days_are_counted_as_calendars_do() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_795_219_200, "2026-11-21"),
            (4_107_542_400, "2100-03-01"),
            (u64::MAX, "9999-12-30"),
        ] {
            assert_eq!(day_of(seconds).to_string(), day);
        }
    }

    #[test]
    fn a_moment_is_of_the_day_in_utc() {
        for (text, day) in [
            ("2026-11-21T23:30:00Z", Some("2026-11-21")),
            ("2026-11-21T23:30:00.123456Z", Some("2026-11-21")),
            ("2026-11-21T23:30:00-02:00", Some("2026-11-22")),
            ("2026-11-21T23:30:00", Some("2026-11-21")),
            ("2026-11-21", Some("2026-11-21")),
            ("2026-02-30T00:00:00Z", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(day_in(text).map(|day| day.to_string()).as_deref(), day, "{text}");
        }
    }
}

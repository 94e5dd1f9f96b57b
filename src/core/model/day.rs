//! Days of the calendar and moments in them, all in UTC.

use jiff::SignedDuration;
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;

pub use jiff::Timestamp as Moment;
pub use jiff::civil::Date;

/// The day of `seconds` since 1970.
pub fn day_of(seconds: u64) -> Date {
    let moment = i64::try_from(seconds).ok().and_then(|seconds| Moment::from_second(seconds).ok());
    moment.unwrap_or(Moment::MAX).to_zoned(TimeZone::UTC).date()
}

/// How many days after `first` the day `second` is.
pub fn days_between(first: Date, second: Date) -> i64 {
    i64::from((second - first).get_days())
}

/// An ISO 8601 moment, as indexes write the time of an upload and profiles their `as-of`. One without an offset is
/// taken for UTC, which PEP 700 prescribes; a day alone is its last moment. `None` for anything else.
pub fn moment_in(text: &str) -> Option<Moment> {
    let utc = |moment: DateTime| moment.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    if let Ok(date) = text.parse::<Date>().as_ref()
        && !text.contains(['T', 't', ' '])
    {
        return utc(date.tomorrow().ok()?.to_datetime(Time::midnight()))?
            .checked_sub(SignedDuration::from_nanos(1))
            .ok();
    }
    text.parse::<Moment>().ok().or_else(|| text.parse::<DateTime>().ok().and_then(utc))
}

#[cfg(test)]
mod tests {
    use super::{day_of, moment_in};

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
    fn moments_are_read_to_the_second() {
        for (text, moment) in [
            ("2026-11-21T23:30:00Z", Some("2026-11-21T23:30:00Z")),
            ("2026-11-21T23:30:00.123456Z", Some("2026-11-21T23:30:00.123456Z")),
            ("2026-11-21T23:30:00-02:00", Some("2026-11-22T01:30:00Z")),
            ("2026-11-21T23:30:00", Some("2026-11-21T23:30:00Z")),
            ("2026-11-21", Some("2026-11-21T23:59:59.999999999Z")),
            ("2026-02-30T00:00:00Z", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(moment_in(text).map(|moment| moment.to_string()).as_deref(), moment, "{text}");
        }
    }
}

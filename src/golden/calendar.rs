//! Days and spans of days as an index writes them: `issued = 2026-11-22`, `review = "90d"`.

use jiff::ToSpan;
use jiff::civil::Date;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::core::model::day::day_of;

/// A day, a local date of TOML.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub Date);

impl Day {
    /// That of a moment, in seconds since 1970.
    pub fn at(seconds: u64) -> Self {
        Self(day_of(seconds))
    }

    /// The day `span` later; the last day there is where that is too late.
    #[must_use]
    pub fn after(self, span: Days) -> Self {
        Self(self.0.checked_add(i64::from(span.0).days()).unwrap_or(Date::MAX))
    }

    /// Days from this one to `other`; negative where that is earlier.
    pub fn until(self, other: Self) -> i32 {
        self.0.until(other.0).map(|span| span.get_days()).unwrap_or_default()
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Day {
    /// For JSON; TOML is written by [`Day::to_toml`].
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl Day {
    /// As a value of TOML.
    pub fn to_toml(self) -> toml::Value {
        self.0.to_string().parse().map_or_else(|_| toml::Value::String(self.0.to_string()), toml::Value::Datetime)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = toml::value::Datetime::deserialize(deserializer)?;
        let text = value.to_string();
        text.parse().map(Self).map_err(|_| D::Error::custom(format!("`{text}` is not a date such as 2026-11-22")))
    }
}

/// A number of days, `90d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Days(pub u16);

impl std::fmt::Display for Days {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}d", self.0)
    }
}

impl Serialize for Days {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Days {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let days = text.strip_suffix('d').and_then(|number| number.parse().ok());
        days.map(Self).ok_or_else(|| D::Error::custom(format!("`{text}` is not a number of days such as `90d`")))
    }
}

#[cfg(test)]
mod tests {
    use super::{Day, Days};

    #[test]
    fn days_are_added_as_calendars_do() {
        let day = |text: &str| Day(text.parse().expect("a day"));
        assert_eq!(day("2026-11-22").after(Days(120)), day("2027-03-22"));
        assert_eq!(day("2028-02-28").after(Days(1)), day("2028-02-29"));
        assert_eq!(day("2026-11-22").until(day("2026-12-22")), 30);
        assert_eq!(day("9999-12-30").after(Days(365)), day("9999-12-31"));
    }
}

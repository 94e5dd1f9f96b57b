//! NVIDIA's numbers: CUDA versions, driver versions, compute capabilities and the architectures code is compiled for.

use std::fmt::{Display, Formatter, Result as FmtResult};
use std::str::FromStr;

use pep440_rs::Version;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A CUDA toolkit or runtime version, `major.minor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CudaVersion {
    pub major: u32,
    pub minor: u32,
}

/// A text that is not the number it should be; says what was read and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotANumber {
    pub text: String,
    pub expected: &'static str,
}

impl Display for NotANumber {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        write!(f, "`{}` is not {}", self.text, self.expected)
    }
}

impl std::error::Error for NotANumber {}

fn pair(text: &str, expected: &'static str) -> Result<(u32, u32), NotANumber> {
    let fail = || NotANumber { text: text.to_owned(), expected };
    let (major, minor) = text.trim().split_once('.').ok_or_else(fail)?;
    Ok((major.parse().map_err(|_| fail())?, minor.parse().map_err(|_| fail())?))
}

impl CudaVersion {
    /// The CUDA that the local label of a version names: 12.8 for `2.11.0+cu128`, 13.0 for `+cu130`.
    pub fn of_label(version: &Version) -> Option<Self> {
        version.local().iter().find_map(|segment| {
            let text = segment.to_string();
            let digits = text.strip_prefix("cu").filter(|digits| digits.len() >= 3)?;
            let (major, minor) = digits.split_at_checked(digits.len() - 1)?;
            format!("{major}.{minor}").parse().ok()
        })
    }
}

impl FromStr for CudaVersion {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        pair(text, "a CUDA version such as `12.8`").map(|(major, minor)| Self { major, minor })
    }
}

impl Display for CudaVersion {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The compute capability of a GPU, `major.minor`: 7.5 is a T4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    pub major: u32,
    pub minor: u32,
}

impl FromStr for ComputeCapability {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        pair(text, "a compute capability such as `7.5`").map(|(major, minor)| Self { major, minor })
    }
}

impl Display for ComputeCapability {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl ComputeCapability {
    /// As a version, so that a GPU can stand in the solver as a package with one version.
    pub fn as_version(self) -> Version {
        Version::new([u64::from(self.major), u64::from(self.minor)])
    }
}

/// What a kernel was compiled for: `sm_75` (machine code, SASS) or `compute_90` (PTX).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Architecture {
    pub ptx: bool,
    pub capability: ComputeCapability,
    /// `sm_90a` runs on 9.0 alone; `sm_100f` on the rest of its family.
    pub suffix: Option<char>,
}

impl FromStr for Architecture {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        let fail = || NotANumber { text: text.to_owned(), expected: "an architecture such as `sm_75` or `compute_90`" };
        let (kind, rest) = text.split_once('_').ok_or_else(fail)?;
        let ptx = match kind {
            "sm" => false,
            "compute" => true,
            _ => return Err(fail()),
        };
        let digits = rest.trim_end_matches(['a', 'f']);
        let suffix = rest[digits.len()..].chars().next();
        let number: u32 = digits.parse().map_err(|_| fail())?;
        Ok(Self { ptx, capability: ComputeCapability { major: number / 10, minor: number % 10 }, suffix })
    }
}

impl Display for Architecture {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        let kind = if self.ptx { "compute" } else { "sm" };
        let ComputeCapability { major, minor } = self.capability;
        write!(f, "{kind}_{major}{minor}")?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

impl Architecture {
    /// Whether code for this architecture can run on a GPU of `capability`, the driver's JIT permitting for PTX.
    ///
    /// NVIDIA's rule: `sm_XY` on X.Z with Z >= Y; `a` on X.Y only; PTX on X.Y and everything newer.
    /// <https://docs.nvidia.com/cuda/cuda-c-programming-guide/#application-compatibility>, checked 2026-11-21.
    pub fn covers(&self, capability: ComputeCapability) -> bool {
        match (self.ptx, self.suffix) {
            (_, Some('a')) => capability == self.capability,
            (false, _) | (true, Some(_)) => {
                capability.major == self.capability.major && capability.minor >= self.capability.minor
            }
            (true, None) => capability >= self.capability,
        }
    }
}

/// An NVIDIA driver version. Keeps the text (`535.104.05`) and compares by numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DriverVersion {
    text: String,
    numbers: Vec<u64>,
}

impl DriverVersion {
    /// The branch, `535` of `535.104.05`.
    pub fn branch(&self) -> u64 {
        self.numbers[0]
    }

    /// As a version, so that the driver can stand in the solver; leading zeros are lost there.
    pub fn as_version(&self) -> Version {
        Version::new(self.numbers.clone())
    }
}

impl PartialOrd for DriverVersion {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DriverVersion {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.numbers.cmp(&other.numbers)
    }
}

impl FromStr for DriverVersion {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        let text = text.trim();
        let numbers: Option<Vec<u64>> = text.split('.').map(|part| part.parse().ok()).collect();
        match numbers {
            Some(numbers) if numbers.len() <= 4 && numbers[0] >= 100 && numbers[0] < 10_000 => {
                Ok(Self { text: text.to_owned(), numbers })
            }
            _ => Err(NotANumber { text: text.to_owned(), expected: "a driver version such as `580.82.07`" }),
        }
    }
}

impl Display for DriverVersion {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.write_str(&self.text)
    }
}

macro_rules! serde_as_text {
    ($($kind:ty),*) => {$(
        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )*};
}
serde_as_text!(CudaVersion, ComputeCapability, Architecture, DriverVersion);

#[cfg(test)]
mod tests {
    use super::{Architecture, ComputeCapability, DriverVersion};

    fn covers(architecture: &str, capability: &str) -> bool {
        let architecture: Architecture = architecture.parse().expect("an architecture");
        let capability: ComputeCapability = capability.parse().expect("a capability");
        architecture.covers(capability)
    }

    #[test]
    fn code_runs_where_nvidia_says() {
        for (architecture, capability, runs) in [
            ("sm_75", "7.5", true),
            ("sm_80", "8.9", true),
            ("sm_86", "8.0", false),
            ("sm_80", "9.0", false),
            ("sm_90a", "9.0", true),
            ("sm_100f", "10.3", true),
            ("compute_90", "12.0", true),
            ("compute_90", "8.9", false),
            ("compute_90a", "10.0", false),
        ] {
            assert_eq!(covers(architecture, capability), runs, "{architecture} on {capability}");
        }
    }

    #[test]
    fn drivers_compare_by_number_and_print_as_read() {
        let older: DriverVersion = "535.104.05".parse().expect("a driver");
        let newer: DriverVersion = "535.104.12".parse().expect("a driver");
        assert!(older < newer);
        assert_eq!(older.to_string(), "535.104.05");
        for wrong in ["", "n/a", "12.8", "535.x"] {
            assert!(wrong.parse::<DriverVersion>().is_err(), "{wrong}");
        }
    }
}

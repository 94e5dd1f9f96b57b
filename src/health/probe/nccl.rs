//! Whether several cards can work together.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding};
use crate::health::probe::{Measure, Probed, Unit, look};

const SCRIPT: &str = include_str!("nccl.py");

/// Bytes of the all-reduce: large enough that the links count.
const BYTES: u64 = 64 << 20;

#[derive(Serialize)]
struct NcclWish {
    devices: Vec<u64>,
    bytes: u64,
}

/// What `nccl.py` prints.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NcclOutput {
    pub error: Option<String>,
    /// One card, another, whether the first reads the other's memory.
    pub peers: Vec<(u64, u64, bool)>,
    pub right: Option<bool>,
    pub seconds: Option<f64>,
    pub rate: Option<f64>,
    pub version: Option<u64>,
}

/// An all-reduce over `devices` cards. Fails where there are fewer than two.
pub fn probe_nccl(session: &Session<'_>, python: &Path, devices: u64, seconds: f64) -> Result<Probed, Failure> {
    if devices < 2 {
        let message =
            format!("NCCL connects several GPUs, but there {}", if devices == 0 { "is none" } else { "is one" });
        return Err(Failure::answer(message).help("`colab-boot probe gpu` measures a single one"));
    }
    let mut environment = session.environment.clone();
    environment.entry("NCCL_DEBUG".to_owned()).or_insert_with(|| "WARN".to_owned());
    let session =
        Session { environment: &environment, paths: session.paths.clone(), log: session.log.clone(), ..*session };
    let wish = NcclWish { devices: (0..devices).collect(), bytes: BYTES };
    let looked = look(&session, python, SCRIPT, &wish, Duration::from_secs_f64(seconds));
    // A hang is what it is about.
    let looked =
        looked.unwrap_or_else(|failure| NcclOutput { error: failure.causes.first().cloned(), ..NcclOutput::default() });
    Ok(judge(&looked, devices))
}

pub(super) fn judge(looked: &NcclOutput, devices: u64) -> Probed {
    let mut probed = Probed::default();
    let of = format!("{devices} GPUs");
    let version = looked.version.map(|code| format!("NCCL {}.{}.{}", code / 10_000, code / 100 % 100, code % 100));
    probed.measures.extend([
        Measure::new(&of, "start", looked.seconds, Unit::Seconds).noted(version.unwrap_or_default()),
        Measure::new(&of, "all-reduce", looked.rate, Unit::BytesPerSecond).noted("bus bandwidth as in nccl-tests"),
    ]);
    let apart = looked.peers.iter().filter(|(.., can)| !can).map(|(one, other, _)| format!("{one} and {other}"));
    let apart: Vec<String> = apart.collect();
    let failed = looked.error.clone().or_else(|| (looked.right == Some(false)).then(|| "the sum is wrong".to_owned()));
    if let Some(why) = failed {
        let finding = Finding::error(Code::NcclPeer, "the GPUs can't work together").with_note(why);
        probed.findings.push(finding.with_help(
            "`NCCL_DEBUG=INFO` shows more; try NCCL_P2P_DISABLE=1, then NCCL_SHM_DISABLE=1, to find the broken transport",
        ));
    } else if !apart.is_empty() {
        let finding = Finding::note(
            Code::NcclPeer,
            "some GPUs can't read each other's memory: their traffic goes through the host",
        );
        probed
            .findings
            .push(finding.with_note(format!("GPUs {}", apart.join(", "))).with_help("it works, but is slower"));
    }
    probed
}

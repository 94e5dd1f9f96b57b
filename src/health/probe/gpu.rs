//! What a card can do now: its largest block of memory, copies, matrix products.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::boot::session::Session;
use crate::core::diag::{Code, Failure, Finding};
use crate::core::matrix::{Card, Figures, Matrix};
use crate::health::probe::{Measure, Probed, Unit, look};

const SCRIPT: &str = include_str!("gpu.py");

/// So much is left to others while the largest block is looked for.
const RESERVE: u64 = 256 << 20;

/// So much is copied.
const COPY: u64 = 256 << 20;

/// Edges of the matrices: the first that fits.
const SIZES: [u64; 3] = [8192, 4096, 1024];

/// What is tried.
#[derive(Clone, Copy, Debug)]
pub struct GpuWish {
    pub device: u64,
    pub seconds: f64,
}

#[derive(Serialize)]
struct GpuRunWish {
    device: u64,
    reserve: u64,
    seconds: f64,
    copy: u64,
    sizes: [u64; 3],
}

/// What `gpu.py` prints.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GpuOutput {
    pub error: Option<String>,
    pub name: String,
    pub capability: [u32; 2],
    pub context_seconds: f64,
    pub memory: Option<Part<Block>>,
    pub copies: Option<Part<Copies>>,
    pub products: Option<Part<Products>>,
}

/// A part, or why there is none.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Part<T> {
    Refused { error: String },
    Seen(T),
}

/// Bytes.
#[derive(Debug, Deserialize)]
pub(super) struct Block {
    pub free: f64,
    pub total: f64,
    pub largest: f64,
    pub asked: u64,
    pub reserve: f64,
}

/// Bytes a second.
#[derive(Debug, Deserialize)]
pub(super) struct Copies {
    pub up: f64,
    pub down: f64,
    pub within: f64,
    pub right: bool,
    pub spread: f64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Products {
    pub library: String,
    pub kinds: BTreeMap<String, Product>,
}

/// Operations a second.
#[derive(Debug, Deserialize)]
pub(super) struct Product {
    pub rate: Option<f64>,
    #[serde(default)]
    pub spread: Option<f64>,
    pub error: Option<String>,
}

/// Measures a card.
pub fn probe_gpu(session: &Session<'_>, python: &Path, wish: GpuWish) -> Result<Probed, Failure> {
    let asked = GpuRunWish { device: wish.device, reserve: RESERVE, seconds: wish.seconds, copy: COPY, sizes: SIZES };
    let looked: GpuOutput = look(session, python, SCRIPT, &asked, Duration::from_secs_f64(wish.seconds * 2.0 + 30.0))?;
    judge(&looked, session.matrix)
}

pub(super) fn judge(looked: &GpuOutput, matrix: &Matrix) -> Result<Probed, Failure> {
    let figures = Figures::bundled().map_err(Failure::bug)?;
    let mut probed = Probed::default();
    if let Some(error) = &looked.error {
        let finding = Finding::error(Code::CudaInit, "the driver does not start").with_note(error.clone());
        probed.findings.push(finding.with_help(driver_help(error)));
        return Ok(probed);
    }
    let card = figures.card(&matrix.gpus, &looked.name);
    let of = format!("{}, compute capability {}.{}", looked.name, looked.capability[0], looked.capability[1]);
    let start = Measure::new(&of, "context", Some(looked.context_seconds), Unit::Seconds);
    probed.measures.push(start.noted("the first use of the GPU by a process"));
    memory(&of, looked, figures, &mut probed);
    copies(&of, looked, card, figures, &mut probed);
    products(&of, looked, card, figures, &mut probed);
    if card.is_none() {
        probed
            .meaning
            .push(format!("no data sheet of {} is bundled, so the results can't be compared with it", looked.name));
    }
    Ok(probed)
}

/// What a code of `cuInit` asks for (CUDA driver API, `CUresult`).
fn driver_help(error: &str) -> &'static str {
    match error {
        _ if error.contains("NO_DEVICE") => {
            "no GPU is visible: check CUDA_VISIBLE_DEVICES, or choose a runtime with a GPU"
        }
        _ if error.contains("SYSTEM_NOT_READY") => {
            "NVSwitch is not initialized: nvidia-fabricmanager must run on the host"
        }
        _ if error.contains("SYSTEM_DRIVER_MISMATCH") => {
            "the driver and libcuda have different versions: use a new machine, and do not run `apt install cuda-drivers`"
        }
        _ if error.contains("COMPAT_NOT_SUPPORTED") => {
            "cuda-compat is on the library path, and this GPU does not support it: remove it from LD_LIBRARY_PATH"
        }
        _ if error.contains("UNKNOWN") => "the driver is in a bad state: use a new machine",
        _ => "`colab-boot doctor gpu` checks the driver and the GPU",
    }
}

fn refused<T>(part: Option<&Part<T>>) -> String {
    match part {
        Some(Part::Refused { error }) => error.clone(),
        _ => "not measured".to_owned(),
    }
}

fn memory(of: &str, looked: &GpuOutput, figures: &Figures, probed: &mut Probed) {
    let Some(Part::Seen(block)) = &looked.memory else {
        probed
            .measures
            .push(Measure::new(of, "largest block", None, Unit::Bytes).noted(refused(looked.memory.as_ref())));
        return;
    };
    let usable = (block.free - block.reserve).max(0.0);
    let measure = Measure::new(of, "largest block", Some(block.largest), Unit::Bytes)
        .at_least(usable * figures.limit("largest-block"));
    let shown = |bytes: f64| measure.shown(bytes);
    let note = format!("of {} free and {} in total; attempts: {}", shown(block.free), shown(block.total), block.asked);
    let low = block.largest < usable * figures.limit("largest-block");
    let message = format!("the largest block is {}, although {} are free", shown(block.largest), shown(block.free));
    probed.measures.push(measure.noted(note));
    if low {
        let finding = Finding::warning(Code::VramLargestBlock, message);
        probed.findings.push(finding.with_help(
            "another process fragments the memory: `colab-boot doctor vram` names it; restart that process",
        ));
    }
}

fn copies(of: &str, looked: &GpuOutput, card: Option<&Card>, figures: &Figures, probed: &mut Probed) {
    let unit = Unit::BytesPerSecond;
    let Some(Part::Seen(copies)) = &looked.copies else {
        probed.measures.push(Measure::new(of, "copy", None, unit).noted(refused(looked.copies.as_ref())));
        return;
    };
    let steady = copies.spread <= figures.limit("spread");
    let held = |measure: Measure, expected: Option<f64>| match expected.filter(|_| steady) {
        Some(expected) => measure.at_least(expected),
        None => measure,
    };
    let within = card.map(|card| card.bandwidth.0 * figures.limit("copy"));
    let bus = Some(figures.limit("bus"));
    let rows = [
        held(Measure::new(of, "host to GPU", Some(copies.up), unit), bus).noted("pinned"),
        held(Measure::new(of, "GPU to host", Some(copies.down), unit), bus).noted("pinned"),
        held(Measure::new(of, "within the GPU", Some(copies.within), unit), within).noted("read and written"),
    ];
    slow(of, &rows, probed);
    probed.measures.extend(rows);
    if !copies.right {
        let finding = Finding::error(Code::GpuWrong, "data changed on the way to the GPU and back");
        probed.findings.push(finding.with_help("the GPU or its memory is broken: use another machine"));
    }
}

fn products(of: &str, looked: &GpuOutput, card: Option<&Card>, figures: &Figures, probed: &mut Probed) {
    let Some(Part::Seen(products)) = &looked.products else {
        let measure = Measure::new(of, "matrix product", None, Unit::Teraflops);
        probed.measures.push(measure.noted(refused(looked.products.as_ref())));
        return;
    };
    let mut rows = Vec::new();
    for (format, what) in [
        ("fp64", "product fp64"),
        ("fp32", "product fp32"),
        ("tf32", "product tf32"),
        ("fp16", "product fp16"),
        ("bf16", "product bf16"),
    ] {
        let Some(product) = products.kinds.get(format) else { continue };
        let measure = Measure::new(of, what, product.rate.map(|rate| rate / 1e12), Unit::Teraflops);
        let expected = card.and_then(|card| card.rate(format)).map(|rate| rate * figures.limit("product"));
        let steady = product.spread.is_none_or(|spread| spread <= figures.limit("spread"));
        let measure = match expected.filter(|_| steady && product.rate.is_some()) {
            Some(expected) => measure.at_least(expected),
            None => measure,
        };
        let note = if steady { String::new() } else { "too noisy to judge".to_owned() };
        rows.push(measure.noted(product.error.clone().unwrap_or(note)));
    }
    slow(of, &rows, probed);
    probed.measures.extend(rows);
    probed.meaning.push(format!("products by {}", products.library));
}

fn slow(of: &str, rows: &[Measure], probed: &mut Probed) {
    let low: Vec<&Measure> = rows.iter().filter(|row| row.verdict == crate::health::probe::Verdict::Low).collect();
    if low.is_empty() {
        return;
    }
    let mut finding = Finding::warning(Code::GpuSlow, format!("{of} is slower than expected"));
    finding.notes = low
        .iter()
        .map(|row| {
            let expected = row.expected.map(|expected| row.shown(expected)).unwrap_or_default();
            format!(
                "{}: {}, expected at least {expected}",
                row.what,
                row.figure.map(|figure| row.shown(figure)).unwrap_or_default()
            )
        })
        .collect();
    let help = "`colab-boot doctor gpu` shows whether it is throttled or used by another process; if it stays slow, use another machine";
    probed.findings.push(finding.with_help(help));
}

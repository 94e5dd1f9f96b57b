//! GPUs by the names that people and drivers give them.

use serde::Deserialize;

use crate::core::matrix::GpuRow;
use crate::core::model::ComputeCapability;

/// The file `gpus.toml`.
#[derive(Debug, Deserialize)]
pub(super) struct GpusFile {
    gpu: Vec<GpuRow>,
    capability: Vec<CapabilityRow>,
}

/// Names of GPUs of one compute capability.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct CapabilityRow {
    compute_capability: ComputeCapability,
    architecture: String,
    /// Those that forward compatibility is for.
    #[serde(default)]
    data_center: Vec<String>,
    #[serde(default)]
    others: Vec<String>,
}

/// All GPUs of the matrix.
#[derive(Debug, Default)]
pub struct Gpus {
    /// The products that notebooks meet, in the order of the file.
    pub products: Vec<GpuRow>,
    others: Vec<GpuRow>,
}

impl From<GpusFile> for Gpus {
    fn from(file: GpusFile) -> Self {
        Self { others: file.capability.iter().flat_map(CapabilityRow::products).collect(), products: file.gpu }
    }
}

impl CapabilityRow {
    fn products(&self) -> Vec<GpuRow> {
        let data_center = self.data_center.iter().map(|name| self.product(name, true));
        data_center.chain(self.others.iter().map(|name| self.product(name, false))).collect()
    }

    fn product(&self, name: &str, data_center: bool) -> GpuRow {
        GpuRow {
            names: vec![name.to_owned()],
            product: name.to_owned(),
            architecture: self.architecture.clone(),
            compute_capability: self.compute_capability,
            memory: None,
            colab: false,
            data_center,
            source: None,
        }
    }
}

impl Gpus {
    /// The GPU called `name`: as it is written, else by the words in it that tell GPUs apart.
    pub fn find(&self, name: &str) -> Option<&GpuRow> {
        let is = |candidate: &str| candidate.eq_ignore_ascii_case(name.trim());
        let exactly = self.all().find(|row| is(&row.product) || row.names.iter().any(|name| is(name)));
        let by = |wanted: &str| {
            self.all().find(|row| row.names.iter().chain([&row.product]).any(|name| essence(name) == wanted))
        };
        let wanted = essence(name);
        // `4090`, `A6000`, `1080 Ti`: what the series is called may be left out.
        exactly.or_else(|| (!wanted.is_empty()).then(|| by(&wanted)).flatten()).or_else(|| {
            let is_number = wanted.bytes().filter(u8::is_ascii_digit).count() > 3;
            is_number.then(|| ["rtx", "gtx"].iter().find_map(|series| by(&format!("{series}{wanted}")))).flatten()
        })
    }

    /// Names that come near to `name`: those that notebooks meet before others, best first.
    pub fn near(&self, name: &str) -> Vec<&str> {
        let wanted = essence(name);
        let likeness = |known: &str| {
            let likeness = strsim::jaro_winkler(known, &wanted);
            (likeness > 0.85 || strsim::damerau_levenshtein(known, &wanted) < 2).then_some(likeness)
        };
        let mut near: Vec<(bool, f64, &str)> = self
            .all()
            .enumerate()
            .filter_map(|(at, row)| Some((at >= self.products.len(), row.names.first()?)))
            .filter_map(|(is_other, name)| Some((is_other, likeness(&essence(name))?, name.as_str())))
            .collect();
        near.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        near.into_iter().map(|(.., name)| name).take(3).collect()
    }

    fn all(&self) -> impl Iterator<Item = &GpuRow> {
        self.products.iter().chain(&self.others)
    }
}

/// Words that say who made a GPU, in which form, or with how much memory.
const WORDS: &[&str] = &[
    "nvidia",
    "tesla",
    "geforce",
    "gpu",
    "graphics",
    "card",
    "laptop",
    "mobile",
    "generation",
    "edition",
    "pcie",
    "nvl",
    "tensor",
    "core",
];

/// The words of a name that tell GPUs apart, joined: `NVIDIA GeForce RTX 4090 Laptop GPU` and `rtx4090` are both
/// `rtx4090`.
fn essence(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.filter(|word| !WORDS.contains(word) && !is_memory(word) && !word.starts_with("sxm")).collect()
}

fn is_memory(word: &str) -> bool {
    let number = word.strip_suffix("gb").unwrap_or(word);
    number.len() < word.len() && number.bytes().all(|byte| byte.is_ascii_digit()) || word.starts_with("hbm")
}

#[cfg(test)]
mod tests {
    use crate::core::matrix::Matrix;

    #[test]
    fn gpus_are_found_by_any_name_a_person_uses() {
        let gpus = &Matrix::bundled().expect("a matrix").gpus;
        for (name, capability) in [
            ("T4", "7.5"),
            ("tesla t4", "7.5"),
            ("rtx4090", "8.9"),
            ("NVIDIA GeForce RTX 4090 Laptop GPU", "8.9"),
            ("4090", "8.9"),
            ("RTX 2080 ti", "7.5"),
            ("1080Ti", "6.1"),
            ("A10G", "8.6"),
            ("NVIDIA A10G", "8.6"),
            ("L40S", "8.9"),
            ("NVIDIA L40S-48GB", "8.9"),
            ("A6000", "8.6"),
            ("NVIDIA RTX A6000", "8.6"),
            ("RTX 6000 Ada Generation", "8.9"),
            ("Quadro RTX 6000", "7.5"),
            ("RTX PRO 6000", "12.0"),
            ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "12.0"),
            ("V100-SXM2-32GB", "7.0"),
            ("Tesla P100-PCIE-12GB", "6.0"),
            ("NVIDIA A100-PCIE-40GB", "8.0"),
            ("NVIDIA H100 PCIe", "9.0"),
            ("NVIDIA H100 NVL", "9.0"),
            ("NVIDIA H200 NVL", "9.0"),
            ("NVIDIA GH200 480GB", "9.0"),
            ("B200", "10.0"),
            ("gb10", "12.1"),
            ("Jetson AGX Orin", "8.7"),
            ("Xavier", "7.2"),
        ] {
            let found = gpus.find(name).map(|row| row.compute_capability.to_string());
            assert_eq!(found.as_deref(), Some(capability), "{name}");
        }
        // `Quadro RTX 6000`, `RTX 6000 Ada` and `RTX A6000` are three GPUs: which one is meant must be said.
        for name in ["RTX 6000", "RX 7900", "", "gpu", "8.9", "H300"] {
            assert!(gpus.find(name).is_none(), "{name}");
        }
        assert!(gpus.near("RTX 6000").contains(&"RTX 6000 Ada"), "{:?}", gpus.near("RTX 6000"));
        assert!(gpus.near("RTX 4090ti").contains(&"RTX 4090"));
        assert!(gpus.near("").is_empty() && gpus.near("zzz").is_empty());
    }
}

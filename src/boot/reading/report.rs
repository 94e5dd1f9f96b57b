//! A wheel that was read, for people and for programs.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Serialize;

use super::named_wheels::WheelReading;
use crate::boot::index::Traffic;
use crate::core::diag::{bytes, counted, others};
use crate::core::matrix::Matrix;
use crate::core::model::linking::{Demands, NumpyInterface};
use crate::core::model::metadata::Metadata;
use crate::core::model::{Architecture, CudaVersion, PackageName, Sha256, Version};

/// A wheel that was read.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct BuildReport {
    package: PackageName,
    version: Version,
    wheel: String,
    sha256: Option<Sha256>,
    /// Bytes.
    size: Option<u64>,
    cuda: Option<CudaVersion>,
    cuda_major: Option<u32>,
    sass: Vec<Architecture>,
    ptx: Vec<Architecture>,
    lto: Vec<String>,
    ptx_isa: Option<CudaVersion>,
    cudnn: Option<String>,
    compilers: Vec<String>,
    /// CUDA libraries that it requires in one version.
    pins: Vec<String>,
    libraries: Vec<String>,
    linking: LinkingReport,
    method: String,
    basis: String,
    #[serde(flatten)]
    traffic: Traffic,
}

impl BuildReport {
    /// Of what was read, and what `matrix` knows of the package.
    pub fn of(reading: WheelReading, matrix: &Matrix) -> Self {
        let (cuda, cuda_major) = (cuda(&reading, matrix), cuda_major(&reading, matrix));
        let linking = LinkingReport::of(&reading);
        let WheelReading { wheel, sha256, size, build, metadata, traffic, .. } = reading;
        Self {
            package: wheel.name.clone(),
            version: wheel.version.clone(),
            wheel: wheel.as_str().to_owned(),
            sha256,
            size,
            cuda,
            cuda_major,
            pins: pins(&metadata),
            basis: build.basis.to_string(),
            sass: build.sass,
            ptx: build.ptx,
            lto: build.lto,
            ptx_isa: build.ptx_isa,
            cudnn: build.cudnn,
            compilers: build.compilers,
            libraries: build.libraries,
            linking,
            method: build.method,
            traffic,
        }
    }
}

/// What its shared objects are linked against.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct LinkingReport {
    /// How many were read.
    objects: usize,
    /// Sets of libraries, of which one must be there whole.
    needs: Vec<BTreeSet<String>>,
    /// Libraries that only parts of the package need.
    some: BTreeSet<String>,
    numpy: Option<NumpyInterface>,
    /// How many names of torch it asks for.
    torch: usize,
    /// Whether some of these are of its C++ interface.
    torch_cxx: bool,
    /// How many names of the C++ interface of TensorFlow's library it asks for.
    tensorflow: usize,
    /// The newest symbol versions: `GLIBC_2.34`.
    versions: Vec<String>,
    opens: BTreeSet<String>,
    unread: Vec<String>,
}

impl LinkingReport {
    fn of(reading: &WheelReading) -> Self {
        let linking = &reading.linking;
        let Demands { needs, some, numpy, torch, torch_cxx, tensorflow, opens, .. } = linking.demands();
        Self {
            objects: linking.objects.len(),
            needs,
            some,
            numpy,
            torch: torch.iter().flatten().collect::<BTreeSet<_>>().len(),
            torch_cxx,
            tensorflow: tensorflow.len(),
            versions: ["GLIBC", "GLIBCXX", "CXXABI"]
                .into_iter()
                .filter_map(|name| linking.version(name).map(|version| format!("{name}_{version}")))
                .collect(),
            opens,
            unread: linking.unread.clone(),
        }
    }

    /// Rows for people: what, and its value.
    fn rows(&self) -> Vec<(&'static str, String)> {
        let numpy = match self.numpy {
            Some(NumpyInterface::First) => "built for NumPy 1: fails with NumPy 2",
            Some(NumpyInterface::Both) => "built for NumPy 2: runs with NumPy 1 and 2",
            None => "",
        };
        let symbols = |count: usize, is_cxx: bool| match (count, is_cxx) {
            (0, _) => String::new(),
            (count, true) => format!("{} of its C++ interface", counted(count, "symbol")),
            (count, false) => format!("{} of its stable interface", counted(count, "symbol")),
        };
        let needs: Vec<String> = self.needs.iter().map(words).collect();
        let unread = if self.unread.is_empty() { String::new() } else { format!(", {} not read", self.unread.len()) };
        let objects = if self.objects + self.unread.len() == 0 {
            "no shared objects of its own".to_owned()
        } else {
            format!("{} shared objects{unread}", self.objects)
        };
        vec![
            ("links", objects),
            ("needs", needs.join(", or ")),
            ("parts need", words(&self.some)),
            ("may open", words(&self.opens)),
            ("NumPy", numpy.to_owned()),
            ("torch", symbols(self.torch, self.torch_cxx)),
            ("TensorFlow", symbols(self.tensorflow, true)),
            ("symbols", self.versions.join(" ")),
        ]
    }
}

fn words(all: &BTreeSet<String>) -> String {
    all.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The CUDA version: by what was read, or by the package's own name and version.
fn cuda(reading: &WheelReading, matrix: &Matrix) -> Option<CudaVersion> {
    reading.build.cuda.or_else(|| matrix.library_cuda(&reading.wheel.name, &reading.wheel.version)?.exact)
}

/// The CUDA major: by what was read, by the package's own name, or by the libraries that its METADATA asks for where
/// those agree.
fn cuda_major(reading: &WheelReading, matrix: &Matrix) -> Option<u32> {
    let library =
        |name: &PackageName, version: &Version| matrix.library_cuda(name, version).map(|library| library.major);
    let WheelReading { wheel, build, metadata, .. } = reading;
    let own = build.cuda.map(|cuda| cuda.major).or_else(|| library(&wheel.name, &wheel.version));
    own.or_else(|| {
        let any = Version::new([0]);
        let majors = metadata.all().filter_map(|one| library(&one.name, &any)).filter(|major| *major > 0);
        let majors: BTreeSet<u32> = majors.collect();
        majors.first().copied().filter(|_| majors.len() == 1)
    })
}

/// What METADATA asks for of CUDA's libraries, as written.
fn pins(metadata: &Metadata) -> Vec<String> {
    let is_cuda = |name: &str| name.starts_with("nvidia-") || name.starts_with("cuda-") || name == "triton";
    let cuda = metadata.all().filter(|requirement| is_cuda(requirement.name.as_ref()));
    let mut pins: Vec<String> = cuda.map(|requirement| requirement.written()).collect();
    pins.sort();
    pins.dedup();
    pins
}

/// For people.
pub fn render_reading(reading: &WheelReading, matrix: &Matrix) -> String {
    let WheelReading { wheel, size, build, metadata, traffic, .. } = reading;
    let size = size.map(|size| format!(" ({})", bytes(size))).unwrap_or_default();
    let mut text = format!("{} {}  {wheel}{size}\n", wheel.name, wheel.version);
    let mut row = |key: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "  {key:<11}{value}");
        }
    };
    let or = |text: String, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text };
    let major =
        cuda_major(reading, matrix).map_or_else(|| "not stated in the wheel".to_owned(), |major| major.to_string());
    row("CUDA", &cuda(reading, matrix).map_or(major, |cuda| cuda.to_string()));
    if build.compilers.is_empty() {
        row("SASS", &or(names(&build.sass), "none found"));
        row("PTX", &or(names(&build.ptx), "none found"));
    } else {
        row("compiles", &names(&build.sass));
        row("with", &build.compilers.iter().map(|version| format!("ptxas {version}")).collect::<Vec<_>>().join(", "));
    }
    row("LTO IR", &build.lto.join(" "));
    row("PTX ISA", &build.ptx_isa.map(|isa| isa.to_string()).unwrap_or_default());
    row("cuDNN", build.cudnn.as_deref().unwrap_or_default());
    row("pins", &pins(metadata).join(" "));
    row("carries", &build.libraries.join(" "));
    for (key, value) in LinkingReport::of(reading).rows() {
        row(key, &value);
    }
    let read = match traffic.requests {
        0 => "nothing fetched".to_owned(),
        requests => format!("{}, {}", counted(requests, "request"), bytes(traffic.bytes)),
    };
    let mut methods = build.method.split(" + ").filter(|method| !method.is_empty());
    let first: Vec<&str> = methods.by_ref().take(2).collect();
    let more = others(methods.count());
    let method = if first.is_empty() { String::new() } else { format!("{}{more}; ", first.join(" + ")) };
    row("read", &format!("{method}{}; {read}", build.basis));
    text
}

fn names(all: &[Architecture]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

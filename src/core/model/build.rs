//! What a wheel was built for, as its own bytes tell.

use serde::{Deserialize, Serialize};

use crate::core::model::{Architecture, CudaVersion};

/// The GPU build of one wheel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct WheelBuild {
    /// Where a text file or the PTX says so; absent where neither does.
    pub cuda: Option<CudaVersion>,
    pub sass: Vec<Architecture>,
    pub ptx: Vec<Architecture>,
    /// Link-time IR, `lto_75`: runs nowhere before a linker has been over it.
    pub lto: Vec<String>,
    /// The newest ISA of its PTX.
    pub ptx_isa: Option<CudaVersion>,
    /// cuDNN that it says it was compiled with; often the major alone.
    pub cudnn: Option<String>,
    /// The CUDA compilers that it carries and runs itself (triton), `12.9.86`.
    pub compilers: Vec<String>,
    /// Shared libraries of CUDA that it carries.
    pub libraries: Vec<String>,
    /// Which members were read, and how.
    pub method: String,
    pub basis: ReadBasis,
    /// Nothing said which of its libraries to read: the likeliest were.
    pub searched: bool,
    /// Members that could not be read, with the reason.
    pub unreadable: Vec<String>,
}

/// How much of the members was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadBasis {
    /// Nothing in the wheel could hold GPU code.
    #[default]
    NoNativeCode,
    /// Its libraries are not looked into: name, version and METADATA say what it is.
    NotRead,
    /// Every byte that could say something.
    WholeMember,
    /// Members that could say something could not be read.
    Unreadable,
    /// The first containers with code: the list that the library was compiled for, though single files of it may
    /// differ.
    FirstContainers(usize),
    /// The first bytes (packed), in which there was no GPU code.
    FirstBytes(u64),
}

impl std::fmt::Display for ReadBasis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoNativeCode => f.write_str("no native code in the wheel"),
            Self::NotRead => f.write_str("by name, version and METADATA"),
            Self::WholeMember => f.write_str("whole member"),
            Self::Unreadable => f.write_str("what could be read"),
            Self::FirstContainers(count) => write!(f, "first {count} containers"),
            Self::FirstBytes(count) => write!(f, "first {} MB of the member", count >> 20),
        }
    }
}

impl WheelBuild {
    /// Why nothing follows from what was not found in it; `None` where its list is as good as whole.
    pub fn doubt(&self) -> Option<String> {
        if let Some(what) = self.unreadable.first() {
            return Some(format!("its wheel can't be read completely: {what}"));
        }
        if let Some(compiler) = self.compilers.first().filter(|_| self.sass.is_empty()) {
            return Some(format!("the CUDA of its compiler, {compiler}, is not in the matrix"));
        }
        match self.basis {
            ReadBasis::FirstBytes(count) => {
                Some(format!("there is no GPU code in the first {} MB of its libraries", count >> 20))
            }
            ReadBasis::FirstContainers(_) if self.searched => Some("only some of its libraries were read".to_owned()),
            _ => None,
        }
    }

    /// Whether there is GPU code in it, or a compiler that makes some.
    pub fn is_gpu(&self) -> bool {
        !self.sass.is_empty() || !self.ptx.is_empty() || !self.compilers.is_empty()
    }
}

//! Which kernels must restart: by what they have loaded of what was changed, and whether they are older than the
//! change.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::boot::machine::Kernel;
use crate::boot::notebook::{Loaded, Modules, Subject};
use crate::core::model::PackageName;

/// What applies have changed since this machine started: one entry a distribution, and one for the environment file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Touched {
    /// `None` for the environment file.
    pub name: Option<PackageName>,
    /// What happens to it, for people: `goes from 2.2.6 to 2.3.1`.
    pub what: String,
    /// Its modules, those of the old version and of the new one.
    pub modules: BTreeSet<String>,
    /// A version of it was installed before.
    pub existed: bool,
    /// A `.pth` file of it comes, goes or changes: Python reads those when it starts, and at no other time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub starts: bool,
    /// When the change was over, in the unit of [`Kernel::start_time`]; `None` while it may still be under way: if the
    /// apply was killed, its installer may go on.
    pub ended: Option<u64>,
    /// Of records of before: nothing depends on it.
    #[serde(default, skip_serializing)]
    pub clean: Vec<Kernel>,
}

impl Touched {
    /// Whether `loaded` holds code that this change is about.
    pub(super) fn is_held(&self, loaded: &Loaded, folders: &[PathBuf]) -> bool {
        match &self.name {
            Some(name) => loaded.holds(Subject { name, modules: &self.modules, existed: self.existed, folders }),
            // Of a kernel that tells its variables, those decide.
            None => !matches!(loaded.modules, Modules::Reported(_)),
        }
    }

    /// Why `kernel` must restart for this change, if it must.
    fn because(&self, kernel: &Kernel, loaded: &Loaded, folders: &[PathBuf]) -> Option<String> {
        let is_older = self.ended.is_none_or(|ended| kernel.start_time < ended);
        // A kernel that has compared its code with the files since says itself what is stale.
        let is_judged =
            self.name.is_some() && loaded.was_compared() && self.ended.is_some_and(|ended| ended < loaded.at);
        let has_started_without = is_older && self.starts;
        let is_stale = is_older && !is_judged && self.is_held(loaded, folders);
        (is_stale || has_started_without).then(|| match &self.name {
            Some(name) if !is_stale => {
                format!("a `.pth` file of {name}, which Python reads when it starts: {}", self.what)
            }
            Some(name) => format!("{name} is loaded and {}", self.what),
            None => self.what.clone(),
        })
    }
}

/// Why `kernel`, which has `loaded`, must restart for what is in `touched`; nothing where it need not. `folders` are
/// those that modules are installed to.
pub fn because<'a>(
    touched: impl IntoIterator<Item = &'a Touched>,
    kernel: &Kernel,
    loaded: &Loaded,
    folders: &[PathBuf],
) -> Vec<String> {
    touched.into_iter().filter_map(|one| one.because(kernel, loaded, folders)).collect()
}

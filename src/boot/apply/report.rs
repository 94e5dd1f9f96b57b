//! The JSON report of `apply` and `restore`; `outcome` has their lines for people.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::boot::marker::Standing;
use crate::boot::plan::Plan;
use crate::boot::seen::PythonReport;

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ApplyReport<'a> {
    /// Absent where nothing was changed because of a finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    pub python: PythonReport,
    pub plan: &'a Plan,
    /// Variables that the cell sets in the running kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_live: Option<&'a BTreeMap<String, Option<String>>>,
    /// Why the kernel has to restart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<&'a [String]>,
}

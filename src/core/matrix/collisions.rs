//! What several packages bring: files at one path, and modules that one hands over to the other.

use crate::core::diag::{Code, Finding};
use crate::core::matrix::Matrix;
use crate::core::matrix::rows::Collision;
use crate::core::model::{PackageName, Version};

impl Matrix {
    /// The rows of [`Matrix::collisions`] that `package` at `version` is in, each with its place among the owners.
    pub fn owned<'a>(
        &'a self,
        package: &'a PackageName,
        version: &'a Version,
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        let owner = move |row: &Collision| {
            row.packages.iter().position(|one| one.name == *package && one.range.contains(version))
        };
        self.collisions.iter().enumerate().filter_map(move |(at, row)| Some((at, owner(row)?)))
    }

    /// `findings` without those that a package hides a module of another one, where it is known to hand it over.
    pub fn without_handed_over(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        findings.retain(|finding| finding.code != Code::FilesCollide || !self.is_handed_over(finding));
        findings
    }

    fn is_handed_over(&self, finding: &Finding) -> bool {
        self.handed_over.iter().any(|row| {
            finding.about.iter().any(|subject| subject.is_package(&row.to))
                && finding.against.iter().any(|subject| subject.is_package(&row.by))
        })
    }
}

//! Builds that the default index does not have, and who publishes them.

use crate::boot::profile::CudaWish;
use crate::boot::resolve::Question;
use crate::boot::resolve::explain::derivation::Fact;
use crate::core::model::PackageName;

/// A line of a profile that takes a framework's build from the framework's own index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    pub package: PackageName,
    /// `pytorch`.
    pub index: String,
    sentence: String,
}

impl Elsewhere {
    /// For people: whether it was solved, where that could be tried; nothing where there is no answer either.
    pub(super) fn help(&self, is_solved: Option<bool>) -> Option<String> {
        match is_solved {
            Some(true) => Some(format!("{} works: solved", self.sentence)),
            Some(false) => None,
            None => Some(format!("{} may work; that index could not be queried", self.sentence)),
        }
    }
}

/// The line that would take a framework's build for the wished CUDA from the framework's own index. Whether that
/// answers is not known here: it is another index than the profile names.
pub(super) fn published_elsewhere(question: Question<'_>, facts: &[Fact]) -> Option<Elsewhere> {
    let (cuda, wish) = match question.target.cuda {
        CudaWish::Cpu => (None, "without CUDA".to_owned()),
        CudaWish::Exact(cuda) => (Some(cuda), format!("for CUDA {cuda}")),
        CudaWish::Auto | CudaWish::Major(_) => return None,
    };
    let names = facts.iter().filter_map(|fact| match fact {
        Fact::Unusable { package, .. } => package.name(),
        _ => None,
    });
    names.into_iter().find_map(|name| {
        let known = question.matrix.indexes.iter().find(|index| index.packages.contains(name))?;
        if question.profile.index_of(name).is_some() || !known.pages.iter().any(|page| page.cuda == cuda) {
            return None;
        }
        let wanted = question.profile.wanted.iter().find(|one| one.name == *name);
        let version = wanted.map(|one| one.specifiers.to_string().replace(", ", ",")).filter(|text| !text.is_empty());
        let version = version.unwrap_or_else(|| "*".to_owned());
        let sentence = format!(
            "builds of `{name}` {wish} are on a separate index: `{name} = {{ version = \"{version}\", index = \"{}\" }}`",
            known.name
        );
        Some(Elsewhere { package: name.clone(), index: known.name.clone(), sentence })
    })
}

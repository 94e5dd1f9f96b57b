//! Packages of which another tool has installed another version, while a kernel holds the one that comes back.

use crate::stories::held_code::{day, pip, restarts_once};
use crate::stories::notebook::{Notebook, Stack, cells};

#[test]
fn what_the_kernel_holds_comes_back_without_a_restart() {
    for stack in [Stack::Colab, Stack::Current] {
        let day = day();
        let Some(mut notebook) = Notebook::open(&day, stack) else { return };
        day.profile("p", &["funct >=2", "const >=2", "deep >=2"], "");
        let (boot, verify) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        assert!(!restarts_once(&mut notebook, &mut kernel, &boot, "at first").0);
        notebook.run(&kernel, "import funct, space.deep.inner");
        // `const` was not loaded before, and is not now.
        notebook.run(&kernel, &pip(&day, "funct==1.0 const==1.0 deep==1.0"));
        let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, "other versions");
        assert!(!restarts && said.contains("no restart needed"), "{stack:?}: {said}");
        assert_eq!(
            notebook.run(&kernel, "import const; print(funct.word(), const.word, space.deep.inner.word())"),
            "new new new\n"
        );
        let verified = notebook.run(&kernel, &verify);
        assert!(verified.contains("\nverified"), "{stack:?}: {verified}");
    }
}

#[test]
fn what_the_kernel_has_loaded_of_the_other_version_restarts_it() {
    for load in ["import const", "import importlib, funct\nimportlib.reload(funct)"] {
        let day = day();
        let Some(mut notebook) = Notebook::open(&day, Stack::Current) else { return };
        day.profile("p", &["funct >=2", "const >=2", "deep >=2"], "");
        let (boot, _) = cells(&day, "p");
        let mut kernel = notebook.kernel();
        assert!(!restarts_once(&mut notebook, &mut kernel, &boot, "at first").0);
        notebook.run(&kernel, "import funct, space.deep.inner");
        notebook.run(&kernel, &pip(&day, "funct==1.0 const==1.0 deep==1.0"));
        notebook.run(&kernel, load);
        let (restarts, said) = restarts_once(&mut notebook, &mut kernel, &boot, load);
        assert!(restarts, "{load}: {said}");
    }
}

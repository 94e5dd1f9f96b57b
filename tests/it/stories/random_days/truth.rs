//! What is true, whatever colab-boot says: files on disk, a fresh Python, the memory of the kernel.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::stories::random_days::packages::{self, differences, fresh_words, installed, named};
use crate::stories::random_days::player::{Cell, Player, Wrong};
use crate::stories::random_days::step::VARIABLES;

/// What the kernel has in memory.
pub struct Memory {
    pub words: BTreeMap<String, String>,
    /// Functions and values that were imported from modules.
    pub kept: BTreeMap<String, String>,
    pub variables: BTreeMap<String, Option<String>>,
    /// A mapped library is not the file that is there now.
    pub maps_old: bool,
}

impl Player<'_> {
    /// Whether everything of `locked` is there and is what a fresh Python gets.
    pub fn is_true(&mut self, locked: &BTreeMap<String, String>, said: &str) -> Result<(), Wrong> {
        self.count.verdicts += 1;
        // What has no list of its files is known by its version alone, and the verdict has to say so.
        let has_list = |(name, version): &(&String, &String)| {
            let record = self.world.day.venv.layout().join(format!("{name}-{version}.dist-info/RECORD"));
            record.exists() || !said.contains("compared by version alone")
        };
        let pairs = locked.iter().filter(has_list).map(|(name, version)| (name.clone(), version.clone()));
        let locked: BTreeMap<String, String> = pairs.collect();
        let mut wrong = differences(&self.world.day, &locked);
        let words = fresh_words(&self.world.day);
        for (name, version) in locked.iter().filter(|(name, _)| named(name).module.is_some()) {
            if words.get(name) != Some(version) {
                wrong.push(format!("a fresh Python has {name} {:?}, not {version}", words.get(name)));
            }
        }
        self.applied.extend(locked.into_keys());
        if wrong.is_empty() { Ok(()) } else { Err(format!("{}\nbut it says\n{said}", wrong.join("\n"))) }
    }

    /// Whether the kernel has in memory what `cell` locks, and its variables.
    pub fn kernel_is_true(&mut self, cell: &Cell, said: &str) -> Result<(), Wrong> {
        let memory = self.memory();
        let mut wrong = Vec::new();
        for (name, word) in memory.words.iter().chain(&memory.kept) {
            if cell.locked.get(name).is_some_and(|version| version != word) {
                wrong.push(format!("the kernel has {name} {word}, the lock {}", cell.locked[name]));
            }
        }
        for name in VARIABLES {
            let (there, meant) = (memory.variables[name].as_deref(), cell.variables.get(name).copied());
            if there != meant {
                wrong.push(format!("{name} is {there:?} in the kernel, {meant:?} in the profile"));
            }
        }
        if memory.maps_old {
            wrong.push("the kernel maps a library that is not there any more".to_owned());
        }
        if wrong.is_empty() { Ok(()) } else { Err(format!("{}\nbut it says\n{said}", wrong.join("\n"))) }
    }

    pub(super) fn verify_in_kernel(&mut self, must: bool) -> Result<(), Wrong> {
        let Some(cell) = self.booted.clone() else { return Ok(()) };
        let (code, locked) = (cell.verify.clone(), cell.locked.clone());
        let said = self.world.notebook.run(&self.kernel, &code);
        if said.contains("\nverified") {
            self.is_true(&locked, &said)?;
            self.kernel_is_true(&cell, &said)
        } else if must {
            Err(format!("not verified:\n{said}"))
        } else {
            Ok(())
        }
    }

    fn is_locked(&self, name: &str) -> bool {
        self.cell.as_ref().is_some_and(|cell| cell.locked.contains_key(name))
    }

    pub fn memory(&mut self) -> Memory {
        let code = format!(
            "import json, os, sys\ndef _word(value):\n    try:\n        return value() if callable(value) else value\n    except Exception as error:\n        \
             return repr(error)\nprint(json.dumps({{'words': {{name: _word(getattr(sys.modules[module], 'word', 'none')) for name, module in {} if module in sys.modules}}, \
             'kept': {{name[5:]: _word(value) for name, value in list(globals().items()) if name.startswith('kept_')}}, \
             'variables': {{name: os.environ.get(name) for name in {VARIABLES:?}}}, \
             'maps_old': any('_core.so (deleted)' in line for line in open('/proc/self/maps'))}}))",
            packages::modules()
        );
        let said = self.world.notebook.run(&self.kernel, &code);
        let value: Value = serde_json::from_str(said.trim()).unwrap_or_else(|_| panic!("{said}"));
        let words = |key: &str| serde_json::from_value(value[key].clone()).expect("words");
        let variables = serde_json::from_value(value["variables"].clone()).expect("variables");
        Memory { words: words("words"), kept: words("kept"), variables, maps_old: value["maps_old"] == true }
    }

    /// The packages of `locked` that the next apply has to change, with whether their version is another one, or none.
    pub fn to_change(&self, locked: &BTreeMap<String, String>) -> BTreeMap<String, bool> {
        let there = installed(&self.world.day);
        let wrong = |(name, version): &(&String, &String)| {
            let one = [((*name).clone(), (*version).clone())].into();
            // What has lost its list of files is installed again as a whole.
            let record = self.world.day.venv.layout().join(format!("{name}-{version}.dist-info/RECORD"));
            !differences(&self.world.day, &one).is_empty() || !record.exists()
        };
        let moves = |(name, version): (&String, &String)| (name.clone(), there.get(name) != Some(version));
        locked.iter().filter(wrong).map(moves).collect()
    }

    /// A kernel that held `before` was restarted by an apply that had `to_change` these.
    pub fn restart_was_needed(
        &mut self,
        before: &Memory,
        to_change: &BTreeMap<String, bool>,
        said: &str,
    ) -> Result<(), Wrong> {
        let now = fresh_words(&self.world.day);
        let held: Vec<(&String, &String)> = before.words.iter().chain(&before.kept).collect();
        if before.maps_old || held.iter().any(|(name, word)| now.get(*name) != Some(word)) {
            return Ok(());
        }
        let is_unknown = held.iter().any(|(name, _)| {
            let (name, is_unseen) = (name.as_str(), self.loaded_unseen.contains(*name));
            if self.went_away.contains(name) {
                return true;
            }
            match to_change.get(name) {
                // The version that comes back is the one in memory, and no record of its files is kept.
                Some(true) => true,
                // Its data may have been read at any time.
                Some(false) => is_unseen || name == "tables" || name == "native",
                // Its code and its map tell nothing of when it was loaded, and no cell had run to see it.
                // colab-boot reads the files of locked packages alone.
                None => named(name).is_opaque && (is_unseen || !self.is_locked(name) && self.touched.contains(name)),
            }
        });
        // Any of what the kernel runs may have read a variable that no row knows.
        let wanted = self.cell.as_ref().and_then(|cell| cell.variables.get("MY_FLAG"));
        let excused = is_unknown || self.is_half_done || before.variables["MY_FLAG"].as_deref() != wanted.copied();
        if excused {
            self.count.needless += 1;
            return Ok(());
        }
        Err(format!("a restart without need: the kernel held {held:?}, and it said\n{said}"))
    }
}

//! Shared objects made for a test, by the C compiler that cargo links with.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::{LazyLock, Mutex};

/// The shared object that `words` describe: `needs:libx.so.1` is linked against it, `soname:libx.so.1` is called so,
/// `asks:symbol` leaves one undefined, `defines:symbol` has one, `says:text` holds a text, with `+` for a space.
pub fn object(words: &str) -> Vec<u8> {
    static MADE: LazyLock<Mutex<HashMap<String, Vec<u8>>>> = LazyLock::new(Mutex::default);
    MADE.lock().expect("a lock").entry(words.to_owned()).or_insert_with(|| compiled(words)).clone()
}

fn compiled(words: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let compile = |source: &str, out: &str, more: &[String]| {
        std::fs::write(path("x.c"), source).expect("a source");
        let done = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", "-o"])
            .args([path(out), path("x.c")])
            .args(more)
            .output()
            .expect("cc starts");
        assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let (mut source, mut more) = (String::new(), Vec::new());
    for (at, word) in words.split_whitespace().enumerate() {
        let (kind, value) = word.split_once(':').expect(word);
        match kind {
            "needs" => {
                compile("", value, &[format!("-Wl,-soname,{value}")]);
                more.push(path(value).display().to_string());
            }
            "soname" => more.push(format!("-Wl,-soname,{value}")),
            "asks" => {
                let _ = writeln!(source, "extern int s{at}(void) __asm__(\"{value}\"); int (*p{at})(void) = s{at};");
            }
            "defines" => {
                let _ = writeln!(source, "int d{at}(void) __asm__(\"{value}\"); int d{at}(void) {{ return {at}; }}");
            }
            "says" => {
                let _ = writeln!(source, "const char t{at}[] __attribute__((used)) = \"{}\";", value.replace('+', " "));
            }
            _ => panic!("{word}"),
        }
    }
    compile(&source, "made.so", &more);
    std::fs::read(path("made.so")).expect("an object")
}

/// Builds the shared object of a committed source in `tests/fakes`.
pub fn build_fake(source: &str, to: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes").join(source);
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O2", "-w", "-o"]).args([to, &source]).status();
    assert!(built.expect("a C compiler, which cargo links with").success());
}

//! `faulthandler` from the first moment of a kernel that the server starts in the place of another: a line in the
//! environment's site-packages.

use std::path::Path;

use crate::core::diag::Failure;
use crate::core::host::files;

/// The file in site-packages.
const NAME: &str = "colab-boot-crash.pth";

/// What a Python that starts runs. It is a kernel's alone that has a connection file, and that of a recorder alone
/// whose lock is there. A line that prints would do so at each start of each Python.
const CODE: &str = "\
import os
try:
    words = open('/proc/self/cmdline', 'rb').read().split(b'\\0')
    files = [word for word in words if word.endswith(b'.json')]
    behind = [word for option, word in zip(words, words[1:]) if option == b'-f' and word in files]
    after = [word.split(b'=', 1)[1] for word in files if word.startswith((b'-f=', b'--f=', b'--IPKernelApp.connection_file='))]
    if files:
        import hashlib
        path = os.path.join(os.getcwdb(), (behind + after + files[-1:])[0])
        lock = os.path.join(FOLDER, 'lock-' + hashlib.sha256(path).hexdigest()[:16])
    if files and os.access(lock, os.W_OK):
        import faulthandler
        faulthandler.enable(open(os.path.join(FOLDER, 'crash-%d.txt' % os.getpid()), 'w'))
except Exception:
    pass
";

/// Has kernels of the environment with this site-packages write their crashes into `folder`. Where it can't be written,
/// the first kernel does so all the same: the cell asks for it.
pub fn follow_crashes(packages: &Path, folder: &Path) {
    let Some(folder) = folder.to_str() else { return };
    let code = CODE.replace("FOLDER", &literal(folder));
    let line = format!("import sys; exec({}, {{}})\n", literal(&code));
    let path = packages.join(NAME);
    if !matches!(files::read_optional(&path), Ok(Some(text)) if text == line) {
        drop(files::write_whole_fast(&path, line.as_bytes()));
    }
}

fn literal(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Takes it out again.
pub fn unfollow_crashes(packages: &Path) -> Result<(), Failure> {
    files::remove_if_there(&packages.join(NAME))
}

//! Kernels

use std::path::Path;
use std::process::Command;

use crate::live_python::interpreter;

/// Writes `tool-1.0-py3-none-any.whl`, which has an entry point.
const TOOL: &str = "
import base64, hashlib, os, sys, zipfile
info = 'tool-1.0.dist-info'
files = {
    'tool.py': 'def main():\\n    print(\"tool\")\\n',
    f'{info}/METADATA': 'Metadata-Version: 2.1\\nName: tool\\nVersion: 1.0\\n',
    f'{info}/WHEEL': 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
    f'{info}/entry_points.txt': '[console_scripts]\\ntool = tool:main\\n',
}
record = ''
with zipfile.ZipFile(os.path.join(sys.argv[1], 'tool-1.0-py3-none-any.whl'), 'w') as wheel:
    for file, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()
        record += f'{file},sha256={digest},{len(text)}\\n'
        wheel.writestr(zipfile.ZipInfo(file), text)
    wheel.writestr(zipfile.ZipInfo(f'{info}/RECORD'), record + f'{info}/RECORD,,\\n')
";

/// A wheel with a script in `folder`.
pub fn tool_wheel(folder: &Path) {
    let done = Command::new(interpreter()).args(["-I", "-c", TOOL]).arg(folder).status().expect("Python starts");
    assert!(done.success());
}

//! Wheels made for a test: METADATA, RECORD and, where it is asked for, a library with a fat binary.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Cursor, Write};

use colab_boot::core::model::{Architecture, Sha256};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::index_server::Release;
use crate::support::object::object;

/// The names of the files of one release.
pub fn files(name: &str, version: &str, release: &Release) -> Vec<String> {
    let stem = release.named.clone().unwrap_or_else(|| name.replace('-', "_"));
    let version = version.replace('-', "_");
    let sdist = || format!("{stem}-{version}.tar.gz");
    let mut files = match &release.tags {
        None => vec![format!("{stem}-{version}-py3-none-any.whl")],
        Some(tags) if tags.is_empty() => vec![sdist()],
        Some(tags) => tags.iter().map(|tag| format!("{stem}-{version}-{tag}.whl")).collect(),
    };
    files.extend(release.sdist.then(sdist));
    files
}

/// METADATA of the file `wheel`.
pub fn metadata(name: &str, wheel: &str, releases: &BTreeMap<String, Release>) -> Option<String> {
    let (version, release) =
        releases.iter().find(|(version, release)| files(name, version, release).iter().any(|file| file == wheel))?;
    let tag = wheel.splitn(3, '-').nth(2).unwrap_or_default().trim_end_matches(".whl");
    let mut text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
    for requirement in release.wheels.get(tag).unwrap_or(&release.requires) {
        let _ = writeln!(text, "Requires-Dist: {requirement}");
    }
    for extra in &release.extras {
        let _ = writeln!(text, "Provides-Extra: {extra}");
    }
    for line in &release.lines {
        let _ = writeln!(text, "{line}");
    }
    Some(text)
}

/// The wheel itself.
pub fn wheel(name: &str, file: &str, releases: &BTreeMap<String, Release>) -> Option<Vec<u8>> {
    let text = metadata(name, file, releases)?;
    let (version, release) =
        releases.iter().find(|(version, release)| files(name, version, release).iter().any(|one| one == file))?;
    let stem = name.replace('-', "_");
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut record = String::new();
    let mut add = |path: &str, bytes: &[u8]| {
        writer.start_file(path, SimpleFileOptions::default()).expect("a member");
        writer.write_all(bytes).expect("its bytes");
        let digest = data_encoding::BASE64URL_NOPAD
            .encode(&data_encoding::HEXLOWER.decode(Sha256::of(bytes).to_string().as_bytes()).expect("hex"));
        let _ = writeln!(record, "{path},sha256={digest},{}", bytes.len());
    };
    for (path, text) in &release.files {
        add(path, text.as_bytes());
    }
    for (path, words) in &release.objects {
        add(path, &object(words));
    }
    if !release.code.is_empty() {
        add(&format!("{stem}/_cuda.so"), &library(&release.code));
    }
    let info = format!("{stem}-{version}.dist-info");
    add(&format!("{info}/METADATA"), text.as_bytes());
    let tag = file.trim_end_matches(".whl").splitn(3, '-').nth(2).unwrap_or("py3-none-any");
    let about = format!("Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n");
    add(&format!("{info}/WHEEL"), about.as_bytes());
    let record = format!("{record}{info}/RECORD,,\n");
    writer.start_file(format!("{info}/RECORD"), SimpleFileOptions::default()).expect("a member");
    writer.write_all(record.as_bytes()).expect("its bytes");
    Some(writer.finish().expect("an archive").into_inner())
}

/// An ELF file with one fat binary; its PTX is of ISA 8.0, CUDA 12.0.
fn library(code: &[String]) -> Vec<u8> {
    let mut entries = Vec::new();
    for name in code.iter().filter(|name| *name != "broken") {
        let architecture: Architecture = name.parse().expect("an architecture");
        let kind: u16 = if architecture.ptx { 1 } else { 2 };
        let number = architecture.capability.major * 10 + architecture.capability.minor;
        let flags: u64 = match architecture.suffix {
            Some('a') => 0x10_0011,
            Some(_) => 0x20_0011,
            None => 0x11,
        };
        entries.extend([kind.to_le_bytes(), 0x101_u16.to_le_bytes()].concat());
        entries.extend(64_u32.to_le_bytes());
        entries.extend(8_u64.to_le_bytes());
        entries.extend([0; 8]);
        entries.extend([0_u16.to_le_bytes(), 8_u16.to_le_bytes()].concat());
        entries.extend(number.to_le_bytes());
        entries.extend([0; 8]);
        entries.extend(flags.to_le_bytes());
        entries.extend([0; 24]);
    }
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(18, 0);
    bytes.extend([62, 0]);
    bytes.resize(4096, 0);
    bytes.extend([0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0]);
    let beyond = if code.iter().any(|name| name == "broken") { 1 << 20 } else { 0 };
    bytes.extend((entries.len() as u64 + beyond).to_le_bytes());
    bytes.extend(entries);
    bytes
}

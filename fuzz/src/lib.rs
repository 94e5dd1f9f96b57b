//! What the targets share.

use colab_boot::core::model::{Libc, PythonFacts, Sha256};
use pep508_rs::MarkerEnvironment;

/// Markers of `CPython` 3.12 on Linux.
pub fn markers() -> MarkerEnvironment {
    let python = PythonFacts {
        version: "3.12.1".parse().expect("a version"),
        architecture: "x86_64".to_owned(),
        libc: Libc::Glibc(2, 35),
        free_threaded: false,
    };
    python.marker_environment().expect("an environment")
}

/// A zip file of stored members, with the metadata of `demo` 1.0. `data` is cut at each 0xFF into path, flags and
/// content of a member: flags choose its mode and whether RECORD knows it.
pub fn wheel(data: &[u8], is_whole: bool) -> Vec<u8> {
    let mut members: Vec<(String, Vec<u8>, u32)> = Vec::new();
    let mut record = String::new();
    for part in data.split(|byte| *byte == 0xff).take(32) {
        let (path, content) = part.split_at(part.iter().position(|byte| *byte == 0).unwrap_or(part.len()));
        let path = String::from_utf8_lossy(path).into_owned();
        let flags = content.get(1).copied().unwrap_or_default();
        let mode = [0, 0o100_644, 0o100_755, 0o120_777, 0o104_777, 0o060_600, 0o100_000, 0o040_755][usize::from(flags % 8)];
        if flags & 0x10 == 0 {
            let digest = Sha256::of(content).to_record();
            record.push_str(&format!("\"{}\",sha256={digest},{}\n", path.replace('"', "\"\""), content.len()));
        }
        members.push((path, content.to_vec(), mode));
    }
    if is_whole {
        let info = "demo-1.0.dist-info";
        for (name, text) in [
            ("METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n".to_owned()),
            ("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n".to_owned()),
            ("RECORD", format!("{record}{info}/RECORD,,\n")),
        ] {
            members.push((format!("{info}/{name}"), text.into_bytes(), 0o100_644));
        }
    }
    zip(&members)
}

fn zip(members: &[(String, Vec<u8>, u32)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (path, content, mode) in members {
        let mut head = Vec::new();
        let (crc, size) = (crc32fast::hash(content), u32::try_from(content.len()).unwrap_or_default());
        for part in [&[20u8, 0, 0, 8, 0, 0, 0, 0, 33, 84][..], &crc.to_le_bytes(), &size.to_le_bytes(), &size.to_le_bytes()] {
            head.extend_from_slice(part);
        }
        head.extend_from_slice(&u16::try_from(path.len()).unwrap_or_default().to_le_bytes());
        head.extend_from_slice(&[0, 0]);
        let offset = u32::try_from(bytes.len()).unwrap_or_default();
        bytes.extend_from_slice(b"PK\x03\x04");
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(path.as_bytes());
        bytes.extend_from_slice(content);
        directory.extend_from_slice(b"PK\x01\x02\x14\x03");
        directory.extend_from_slice(&head);
        directory.extend_from_slice(&[0; 6]);
        directory.extend_from_slice(&(mode << 16).to_le_bytes());
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend_from_slice(path.as_bytes());
    }
    let (at, size) = (u32::try_from(bytes.len()).unwrap_or_default(), u32::try_from(directory.len()).unwrap_or_default());
    let count = u16::try_from(members.len()).unwrap_or_default().to_le_bytes();
    bytes.extend(directory);
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    for part in [&count[..], &count, &size.to_le_bytes(), &at.to_le_bytes(), &[0, 0]] {
        bytes.extend_from_slice(part);
    }
    bytes
}

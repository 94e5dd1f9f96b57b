//! Known fat binaries and archives, whole, cut off at every byte, and with every byte changed.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::core::inspect::{
    Archive, Code, Collected, Flow, InspectedWheel, Inspection, Malformed, Scanner, Sink, Unpacker, WholeUnpacker,
    locate, read,
};
use crate::core::matrix::Matrix;
use crate::core::model::build::{ReadBasis, WheelBuild};
use crate::core::model::contents::{Files, Member};

/// `nvcc` 13.4.92 compiled `tests/fatbin/k.cu` for the targets that each name is listed with.
const FATBINS: [(&[u8], &str, &str); 5] = [
    (
        include_bytes!("../../../tests/fatbin/k.fatbin"),
        "sm_75 sm_90 sm_90a sm_100a sm_100f sm_120",
        "compute_90a compute_120 compute_120f",
    ),
    (include_bytes!("../../../tests/fatbin/k_none.fatbin"), "sm_90 sm_120f", "compute_120"),
    (include_bytes!("../../../tests/fatbin/k_speed.fatbin"), "sm_90 sm_120f", "compute_120"),
    (include_bytes!("../../../tests/fatbin/k_size.fatbin"), "sm_90 sm_120f", "compute_120"),
    (include_bytes!("../../../tests/fatbin/k_lto.fatbin"), "sm_75", ""),
];

/// Reads `bytes` in pieces of `piece`.
fn scan(bytes: &[u8], piece: usize, enough: Option<usize>) -> Result<Code, Malformed> {
    let mut scanner = Scanner::new(bytes.len() as u64, enough);
    for chunk in bytes.chunks(piece) {
        if scanner.take(chunk)? == Flow::Enough {
            break;
        }
    }
    scanner.finish()
}

fn names<'a>(all: impl IntoIterator<Item = &'a crate::core::model::Architecture>) -> String {
    all.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// An ELF file with `sections` at multiples of 8, and other bytes around them.
fn library(sections: &[&[u8]]) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(18, 0);
    bytes.extend([62, 0]);
    bytes.resize(4096, 0x90);
    for section in sections {
        bytes.extend_from_slice(section);
        bytes.resize(bytes.len().next_multiple_of(8) + 64, 0xcc);
    }
    bytes
}

#[test]
fn fat_binaries_are_read_in_pieces_of_any_size() {
    for (bytes, sass, ptx) in FATBINS {
        for piece in [1, 7, 64, 4096, bytes.len()] {
            let code = scan(bytes, piece, None).expect("a fat binary");
            assert_eq!((names(code.sass.keys()), names(code.ptx.keys())), (sass.to_owned(), ptx.to_owned()));
        }
    }
    let code = scan(FATBINS[0].0, 4096, None).expect("a fat binary");
    assert_eq!(code.ptx_isa.map(|isa| isa.to_string()).as_deref(), Some("9.4"));
    assert_eq!(scan(FATBINS[4].0, 64, None).expect("a fat binary").lto.into_keys().collect::<Vec<_>>(), [90]);
}

#[test]
fn containers_are_found_inside_libraries_and_counted() {
    let [(whole, ..), (none, ..), ..] = FATBINS;
    let bytes = library(&[none, whole]);
    let code = scan(&bytes, 1000, None).expect("a library");
    assert_eq!((code.containers, code.sass.values().sum::<u64>()), (2, 8));
    let first = scan(&bytes, 1000, Some(1)).expect("a library");
    assert_eq!((first.containers, names(first.sass.keys())), (1, "sm_90 sm_120f".to_owned()));
}

#[test]
fn a_truncated_file_is_an_error_with_its_offset() {
    let bytes = FATBINS[0].0;
    for end in 24..bytes.len() {
        let error = scan(&bytes[..end], 512, None).expect_err("a part of a fat binary");
        assert!(error.offset <= end as u64, "{error} of {end} bytes");
    }
    let library = library(&[bytes]);
    let error = scan(&library[..8192], 512, None).expect_err("a part of a library");
    assert_eq!(error.to_string(), "a fat binary of this file ends at byte 33328, but the file at 8192 (at byte 4112)");
    assert!(scan(b"#!/bin/sh\nexit 0\nno library at all\n", 8, None).is_err());
}

#[test]
fn no_changed_byte_of_a_fat_binary_does_harm() {
    let bytes = FATBINS[4].0;
    for at in 0..512 {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.to_vec();
            changed[at] = value;
            // An answer or an error; nothing else.
            let _ = scan(&changed, 333, None);
        }
    }
}

fn archive(method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, text) in [
        ("a/__init__.py", "print('a')\n".repeat(900)),
        ("a/_c.so", String::new()),
        ("a-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: a\n".to_owned()),
    ] {
        writer.start_file(name, options).expect("a member");
        writer.write_all(text.as_bytes()).expect("its bytes");
    }
    writer.start_file("a/_cuda.so", options.large_file(true)).expect("a member");
    writer.write_all(&library(&[FATBINS[0].0])).expect("its bytes");
    writer.finish().expect("an archive").into_inner()
}

fn files_of(bytes: &[u8]) -> Result<Files, Malformed> {
    let place = locate(bytes, bytes.len() as u64)?;
    let range =
        usize::try_from(place.range.start).expect("an offset")..usize::try_from(place.range.end).expect("an offset");
    read(&bytes[range], &place)
}

#[test]
fn archives_of_another_writer_are_read() {
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let bytes = archive(method);
        let mut archive = Archive::open(Cursor::new(bytes)).expect("an archive");
        assert_eq!(archive.files().members.len(), 4);
        let init = archive.files().get("a/__init__.py").cloned().expect("a member");
        assert_eq!(init.size, 9900);
        assert!(archive.text(&init, 20_000).expect("its text").starts_with("print('a')\n"));
        assert!(archive.text(&init, 100).is_err(), "longer than allowed");
        assert_eq!(archive.files().dist_info("METADATA").map(|member| member.size), Some(30));
    }
}

#[test]
fn a_wheel_of_which_nothing_is_known_is_searched() {
    let matrix = Matrix::bundled().expect("the matrix");
    let mut archive = Archive::open(Cursor::new(archive(CompressionMethod::Deflated))).expect("an archive");
    let files = archive.files().clone();
    let package = "a".parse().expect("a name");
    let subject = InspectedWheel { package: &package, files: &files, matrix: &matrix, thorough: false };
    let mut inspection = Inspection::new(subject);
    while let Some(mut request) = inspection.next_request() {
        let whole = archive.unpack(&files.members[request.member], &mut request);
        let whole = whole.map_err(|error| error.downcast::<Malformed>().expect("what is wrong with it"));
        inspection.took(request, whole);
    }
    let WheelBuild { cuda, sass, method, basis, .. } = inspection.finish();
    assert_eq!(cuda.map(|cuda| cuda.to_string()).as_deref(), Some("13.4"), "by its PTX ISA, 9.4");
    assert_eq!(names(&sass), FATBINS[0].1);
    assert_eq!((method.as_str(), basis), ("fatbin headers of a/_cuda.so", ReadBasis::WholeMember));
}

#[test]
fn damaged_archives_are_errors_with_an_offset() {
    let bytes = archive(CompressionMethod::Deflated);
    let sane = files_of(&bytes).expect("an archive");
    for end in 0..bytes.len() {
        assert!(files_of(&bytes[..end]).is_err(), "cut off at {end}");
    }
    let directory = bytes.len() - 400;
    for at in directory..bytes.len() {
        for value in [0, 1, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            let Ok(files) = files_of(&changed) else { continue };
            assert!(files.members.len() <= sane.members.len());
        }
    }
    let mut damaged = bytes;
    let member = sane.get("a/__init__.py").expect("a member");
    damaged[usize::try_from(member.offset).expect("an offset") + 60] ^= 0x55;
    let mut unpacker = Unpacker::new(member).expect("a packing that is known");
    let mut text = Collected::new(1 << 20);
    let range = usize::try_from(member.offset).expect("an offset")..usize::try_from(member.end).expect("an offset");
    let taken = unpacker.take(&damaged[range], &mut text);
    assert!(taken.is_err() || unpacker.finish().is_err());
}

/// What members unpack to, as text; `None` for one that can't be.
type Members = Vec<Option<String>>;

/// What `unpack` makes of every member of an archive with these bytes, if the directory can be read.
fn unpacked(bytes: &[u8], unpack: impl Fn(&Member, &[u8]) -> Result<String, Malformed>) -> Option<Members> {
    let files = files_of(bytes).ok()?;
    let part = |member: &Member| Some(usize::try_from(member.offset).ok()?..usize::try_from(member.end).ok()?);
    Some(files.members.iter().map(|member| unpack(member, bytes.get(part(member)?)?).ok()).collect())
}

/// As a whole, and piece by piece.
fn in_both_ways(bytes: &[u8]) -> [Option<Members>; 2] {
    let whole = |member: &Member, bytes: &[u8]| {
        WholeUnpacker::default().unpack(member, bytes).map(|all| String::from_utf8_lossy(all).into_owned())
    };
    let by_piece = |member: &Member, bytes: &[u8]| {
        let mut unpacker = Unpacker::new(member)?;
        let mut collected = Collected::new(1 << 20);
        for piece in bytes.chunks(7) {
            if unpacker.take(piece, &mut collected)? == Flow::Enough {
                break;
            }
        }
        unpacker.finish().map(|_| collected.into_text())
    };
    [unpacked(bytes, whole), unpacked(bytes, by_piece)]
}

#[test]
fn members_unpack_to_the_same_as_a_whole_and_piece_by_piece() {
    for (method, step) in [(CompressionMethod::Stored, 53), (CompressionMethod::Deflated, 1)] {
        let bytes = archive(method);
        let [whole, by_piece] = in_both_ways(&bytes);
        assert!(whole.as_ref().is_some_and(|members| members.iter().all(Option::is_some)));
        assert!(whole == by_piece);
        // Whichever byte another one takes the place of.
        for at in (0..bytes.len()).step_by(step) {
            let mut other = bytes.clone();
            other[at] ^= 0x11;
            let [whole, by_piece] = in_both_ways(&other);
            assert!(whole == by_piece, "byte {at}");
        }
    }
}

//! One file with its signatures: a text, and behind it the blocks of `ssh-keygen -Y sign`, each line of them a comment.
//! Servers and caches hand out one file whole, never two of one moment; and what stands before the blocks stays the
//! TOML that it is.

/// The line that a block begins with, and that ends the signed text.
const BEGIN: &str = "# -----BEGIN SSH SIGNATURE-----";
const END: &str = "# -----END SSH SIGNATURE-----";
const BEGIN_WORDS: &str = "BEGIN SSH SIGNATURE";

/// The most blocks of one file, and lines of one block: one of Ed25519 has six.
const BLOCKS: usize = 16;
const LINES: usize = 64;

/// A text and its signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// What is signed: everything before the first block.
    pub text: &'a str,
    /// The blocks as `ssh-keygen` writes and reads them.
    pub blocks: Vec<String>,
}

/// Takes a file apart. Whatever is not exactly a text and blocks is refused, with the reason: two readers must never
/// see two things in one file.
pub fn split(bytes: &[u8]) -> Result<Signed<'_>, String> {
    if bytes.contains(&b'\r') {
        return Err(
            "it has carriage returns: git or an editor changed its line endings, and thus its digest".to_owned()
        );
    }
    if bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"<<<<<<< ")) {
        return Err("it has conflict markers of git".to_owned());
    }
    if bytes.contains(&0) || bytes.starts_with(b"\xef\xbb\xbf") {
        return Err("it begins with a byte order mark, or has a NUL in it".to_owned());
    }
    let whole = std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
    if !whole.is_empty() && !whole.ends_with('\n') {
        return Err("its last line has no newline: it was truncated".to_owned());
    }
    let at = starts_of_lines(whole).find(|at| line_at(whole, *at) == BEGIN).unwrap_or(whole.len());
    let (text, rest) = whole.split_at(at);
    if text.contains(BEGIN_WORDS) {
        return Err("the text before its signatures contains a marker of a signature".to_owned());
    }
    let mut blocks = Vec::new();
    let mut lines = rest.lines();
    while let Some(line) = lines.next() {
        if line != BEGIN {
            return Err("it has other text between or after its signatures".to_owned());
        }
        blocks.push(block(&mut lines)?);
        if blocks.len() > BLOCKS {
            return Err(format!("it has more than {BLOCKS} signatures"));
        }
    }
    Ok(Signed { text, blocks })
}

/// The rest of a block, from the line after its first.
fn block<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Result<String, String> {
    let plain = |line: &'a str| line.strip_prefix("# ").unwrap_or_default();
    let mut block = format!("{}\n", plain(BEGIN));
    for line in lines.take(LINES) {
        block.push_str(plain(line));
        block.push('\n');
        if line == END {
            return Ok(block);
        }
        let body = line.strip_prefix("# ").unwrap_or_default();
        if body.is_empty()
            || !body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
        {
            return Err("a line of a signature is not base64".to_owned());
        }
    }
    Err("a signature has no end marker".to_owned())
}

/// The file of `text` with `blocks` as `ssh-keygen` wrote them.
pub fn join(text: &str, blocks: &[String]) -> String {
    let lines = blocks.iter().flat_map(|block| block.lines()).map(|line| format!("# {line}\n"));
    std::iter::once(text.to_owned()).chain(lines).collect()
}

fn starts_of_lines(text: &str) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).filter(|at| *at < text.len())
}

fn line_at(text: &str, at: usize) -> &str {
    text[at..].lines().next().unwrap_or_default()
}

/// What to do about a file of a repository that can't be used.
pub fn way_back(file: &[u8]) -> &'static str {
    if file.contains(&b'\r') {
        return "add the line `* -text` to `.gitattributes`, then restore the file from version control";
    }
    let has_markers = file.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"<<<<<<< "));
    if has_markers {
        "take all files of one side of the merge, then make the changes of the other side again with colab-boot"
    } else {
        "restore it from version control"
    }
}

#[cfg(test)]
mod tests {
    use super::{join, split};

    const BLOCK: &str = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\nAAA=\n-----END SSH SIGNATURE-----\n";

    #[test]
    fn a_text_and_its_blocks_come_apart_as_they_were_joined() {
        let text = "# an index\nversion = 1\n";
        for count in 0..3 {
            let blocks = vec![BLOCK.to_owned(); count];
            let file = join(text, &blocks);
            let signed = split(file.as_bytes()).expect("a file");
            assert_eq!((signed.text, &signed.blocks), (text, &blocks));
        }
    }

    #[test]
    fn what_two_readers_could_read_in_two_ways_is_refused() {
        let good = join("version = 1\n", &[BLOCK.to_owned()]);
        for (bad, why) in [
            (good.replace('\n', "\r\n"), "carriage returns"),
            (format!("\u{feff}{good}"), "byte order mark"),
            (good.replace("version", "ver\0sion"), "NUL"),
            (format!("{good}version = 2\n"), "between or after"),
            (format!("{good}\n"), "between or after"),
            (good.replace("# AAA=\n", ""), ""),
            (good.replace("# AAA=", "# AA A="), "not base64"),
            (good.replace("# AAA=", "AAA="), "not base64"),
            (good.replace("# -----END SSH SIGNATURE-----\n", ""), "no end"),
            (good.trim_end().to_owned(), "truncated"),
            (good.replace("version = 1", "# -----BEGIN SSH SIGNATURE----- \nversion = 1"), "before its signatures"),
            (join("a = 1\n", &vec![BLOCK.to_owned(); 17]), "more than 16"),
        ] {
            match split(bad.as_bytes()) {
                Err(said) => assert!(!why.is_empty() && said.contains(why), "{why}: {said}"),
                Ok(_) => assert!(why.is_empty(), "{why} was taken: {bad}"),
            }
        }
        assert!(split(b"\xff\n").is_err());
    }
}

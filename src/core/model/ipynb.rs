//! A notebook (nbformat 4) as text: its cells, each with its place, so that one is replaced and nothing else changes by
//! a byte.

use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::core::model::json_text::strict;

/// A notebook that was read.
#[derive(Clone, Debug)]
pub struct Ipynb<'a> {
    text: &'a str,
    /// With its brackets.
    array: Range<usize>,
    /// Since 4.5 cells have an id; before, they must not have one.
    pub has_ids: bool,
    pub cells: Vec<Cell>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Where it stands in the text.
    pub span: Range<usize>,
    pub is_code: bool,
    /// Its lines as one text.
    pub source: String,
    /// As it stands.
    pub value: Value,
}

#[derive(Deserialize)]
struct Raw<'a> {
    nbformat: u64,
    #[serde(default)]
    nbformat_minor: u64,
    #[serde(borrow)]
    cells: Option<&'a RawValue>,
}

/// An error for another `nbformat` than that of today.
pub fn must_be_supported(nbformat: u64) -> Result<(), String> {
    if nbformat == 4 { Ok(()) } else { Err(format!("it has notebook format {nbformat}; only 4 is supported")) }
}

impl<'a> Ipynb<'a> {
    /// Reads `text`; why it is no notebook, for people.
    pub fn parse(text: &'a str) -> Result<Self, String> {
        // Byte for byte as long: a place in it is one in the text.
        let strict = strict(text);
        let raw: Raw<'_> = serde_json::from_str(&strict).map_err(|error| error.to_string())?;
        must_be_supported(raw.nbformat)?;
        let array = raw.cells.ok_or("it has no cells")?;
        let place = |inner: &str| {
            let start = inner.as_ptr().addr() - strict.as_ptr().addr();
            start..start + inner.len()
        };
        let cells: Vec<&RawValue> = serde_json::from_str(array.get()).map_err(|error| error.to_string())?;
        let read = |cell: &RawValue| {
            let value: Value = serde_json::from_str(cell.get()).map_err(|error| error.to_string())?;
            Ok(Cell { span: place(cell.get()), is_code: value["cell_type"] == "code", source: source(&value), value })
        };
        Ok(Self {
            text,
            array: place(array.get()),
            has_ids: raw.nbformat_minor >= 5,
            cells: cells.into_iter().map(read).collect::<Result<_, String>>()?,
        })
    }

    /// The text with `cell` in the place of the one at `at`.
    pub fn replaced(&self, at: usize, cell: &Value) -> String {
        let span = self.cells[at].span.clone();
        format!("{}{}{}", &self.text[..span.start], self.written(cell), &self.text[span.end..])
    }

    /// The text with `cells` before the one at `at`, or behind the last.
    pub fn inserted(&self, at: usize, cells: &[Value]) -> String {
        let space = self.space();
        let separator = format!(",{space}");
        let written = cells.iter().map(|cell| self.written(cell)).collect::<Vec<_>>().join(&separator);
        let put =
            |place: Range<usize>, new: &str| format!("{}{new}{}", &self.text[..place.start], &self.text[place.end..]);
        match (self.cells.get(at), self.cells.last()) {
            (Some(next), _) => put(next.span.start..next.span.start, &format!("{written}{separator}")),
            (None, Some(last)) => put(last.span.end..last.span.end, &format!("{separator}{written}")),
            (None, None) => {
                let end = if space.contains('\n') { "\n " } else { "" };
                put(self.array.clone(), &format!("[{space}{written}{end}]"))
            }
        }
    }

    /// What stands between two cells, besides the comma.
    fn space(&self) -> &'a str {
        let Some(first) = self.cells.first() else {
            return if self.text.trim().contains('\n') { "\n  " } else { "" };
        };
        &self.text[self.array.start + 1..first.span.start]
    }

    /// `cell` as the others are written: their indentation, or one line.
    fn written(&self, cell: &Value) -> String {
        let Some((_, base)) = self.space().rsplit_once('\n') else { return cell.to_string() };
        // Cells stand two levels deep.
        let unit = &base[..base.len() / 2];
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        if serde::Serialize::serialize(cell, &mut serializer).is_err() {
            return cell.to_string();
        }
        // With the line ends that the file has.
        let end = if self.space().contains("\r\n") { "\r\n" } else { "\n" };
        String::from_utf8_lossy(&bytes).replace('\n', &format!("{end}{base}"))
    }
}

/// The source of a cell, which is a text or a list of lines.
pub fn source(cell: &Value) -> String {
    match &cell["source"] {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// `source` as the list of lines that notebooks have.
pub fn lines(source: &str) -> Value {
    source.split_inclusive('\n').collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOTEBOOK: &str = "{\n \"metadata\": {\"b\": 1.50, \"a\": \"\\u00e9\"},\n \"nbformat\": 4,\n \"nbformat_minor\": 5,\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"source\": \"hi\"\n  },\n  {\"cell_type\": \"code\", \"source\": [\"a\\n\", \"b\"]}\n ]\n}\n";

    #[test]
    fn nothing_else_changes() {
        let notebook = Ipynb::parse(NOTEBOOK).expect("a notebook");
        assert_eq!((notebook.cells.len(), notebook.cells[1].source.as_str()), (2, "a\nb"));
        let cell = json!({ "cell_type": "code", "source": ["x"] });
        let put = notebook.inserted(1, std::slice::from_ref(&cell));
        let written = "{\n   \"cell_type\": \"code\",\n   \"source\": [\n    \"x\"\n   ]\n  }";
        assert_eq!(put.replacen(&format!("{written},\n  "), "", 1), NOTEBOOK);
        let again = Ipynb::parse(&put).expect("a notebook");
        assert_eq!(again.cells[1].value, cell);
        let last = notebook.inserted(2, std::slice::from_ref(&cell));
        assert_eq!(last.replacen(&format!(",\n  {written}"), "", 1), NOTEBOOK);
        let other = notebook.replaced(1, &cell);
        assert_eq!(other.replace(written, "{\"cell_type\": \"code\", \"source\": [\"a\\n\", \"b\"]}"), NOTEBOOK);
    }

    #[test]
    fn what_python_writes_and_json_does_not_have_stays() {
        let odd = NOTEBOOK.replace("1.50", "NaN").replace("hi", "\\ud83d hi");
        let cell = json!({ "cell_type": "code", "source": ["x"] });
        let put = Ipynb::parse(&odd).expect("a notebook").inserted(1, std::slice::from_ref(&cell));
        assert!(put.contains("\"b\": NaN") && put.contains("\\ud83d hi"), "{put}");
        assert_eq!(Ipynb::parse(&put).expect("a notebook").cells.len(), 3);
    }

    #[test]
    fn an_empty_one_and_one_on_a_line_stay_as_they_are_written() {
        let cell = json!({ "cell_type": "code" });
        let line = r#"{"cells":[],"nbformat":4,"nbformat_minor":2}"#;
        let read = Ipynb::parse(line).expect("a notebook");
        assert!(!read.has_ids);
        let put = read.inserted(0, std::slice::from_ref(&cell));
        assert_eq!(put, r#"{"cells":[{"cell_type":"code"}],"nbformat":4,"nbformat_minor":2}"#);
        let put = Ipynb::parse(&put).expect("a notebook").inserted(1, std::slice::from_ref(&cell));
        assert_eq!(put, r#"{"cells":[{"cell_type":"code"},{"cell_type":"code"}],"nbformat":4,"nbformat_minor":2}"#);
        let empty = "\u{feff}{\n \"cells\": [],\n \"nbformat\": 4\n}\n";
        let put = Ipynb::parse(empty).expect("a notebook").inserted(0, &[cell]);
        assert_eq!(put, "\u{feff}{\n \"cells\": [\n  {\n   \"cell_type\": \"code\"\n  }\n ],\n \"nbformat\": 4\n}\n");
        for bad in ["", "[]", "{}", r#"{"nbformat": 3, "cells": []}"#, r#"{"nbformat": 4, "cells": {}}"#] {
            assert!(Ipynb::parse(bad).is_err(), "{bad}");
        }
    }
}

//! `explain`: what a code means.

use serde_json::json;

use crate::cli::ExplainOptions;
use crate::command::Report;
use crate::diag::{Code, Failure};

pub(super) fn run(options: &ExplainOptions) -> Result<Report, Failure> {
    let Some(text) = &options.code else {
        let list: String = Code::ALL.iter().map(|code| format!("{code}\n")).collect();
        return Ok(Report::new(json!(Code::ALL), list));
    };
    let nearest = |text: &str| {
        Code::ALL.iter().max_by(|a, b| strsim::jaro(a.as_str(), text).total_cmp(&strsim::jaro(b.as_str(), text)))
    };
    let Some(code) = Code::find(text) else {
        let help = nearest(text)
            .map(|code| format!("did you mean `{code}`? `colab-boot explain` lists all"))
            .unwrap_or_default();
        return Err(Failure::input(format!("there is no code `{text}`")).help(help));
    };
    let data = json!({ "code": code, "explanation": code.explanation() });
    Ok(Report::new(data, format!("{code}\n\n{}\n", code.explanation())))
}

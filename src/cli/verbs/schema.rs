//! `schema`: the JSON Schema of a profile or a lock, for editors and validators.

use serde_json::json;

use crate::boot::lock::LOCK_SCHEMA;
use crate::boot::profile::PROFILE_SCHEMA;
use crate::boot::verdict::Report;
use crate::cli::arguments::{Document, SchemaOptions};
use crate::core::diag::Failure;

pub(super) fn run(options: &SchemaOptions) -> Result<Report, Failure> {
    let text = match options.document {
        Document::Profile => PROFILE_SCHEMA,
        Document::Lock => LOCK_SCHEMA,
    };
    let schema: serde_json::Value =
        serde_json::from_str(text).map_err(|error| Failure::bug("a schema is no JSON").because(&error))?;
    Ok(Report::new(json!({ "schema": schema }), String::new()).printing(Some(text.to_owned())))
}

//! What a team publishes: golden profiles with their locks and notebook cells, the index of a repository, its
//! signatures, its pages, and what a release is on a day.
//!
//! It uses `core` and `boot`; only `cli` may use it. A room names only rooms above it in this list. All but
//! `repository` are pure.

// Notebook cells from a profile and its lock.
pub mod cell;
// `golden.lock`: the pin of a folder.
pub mod pin;
// A cell and its verify cell in a notebook that a team keeps.
pub mod in_notebook;
// Days on which something ends: releases, reviews, support of a driver.
pub mod calendar;
// A release in the index, and what it is on a day.
pub mod entry;
// What was seen of a release where it was verified.
pub mod attestation;
// A verification as such a record.
pub mod evidence_of_run;
// What a repository promises: how long things count, what fails its check.
pub mod policy;
// The index of a repository.
pub mod catalogue;
// When a repository has to be looked at again.
pub mod due_work;
// A text with the signatures under it.
pub mod signed_text;
// Public keys, and how many of them must sign.
pub mod signers;
// Whether the index is signed by those who may, and fresh.
pub mod index_trust;
// How readers follow a change of the signers.
pub mod rotation;
// The index as a web page.
pub mod catalogue_page;
// Repositories in folders and at addresses: read, changed, signed; who is trusted.
pub mod repository;

//! Forms in which users have secrets, and what must stay as it is.

use crate::core::secrets::{Baseline, Sighting, scrubbed};

fn scrubbed_of(name: &str, text: &str) -> (Vec<Sighting>, Option<String>) {
    scrubbed(name, text, &Baseline::default()).expect("readable")
}

#[test]
fn a_name_in_json_tells_a_secret_as_it_does_in_code() {
    let hexadecimal = "4fd12aabfe228f219e9cb0eb53f16947";
    for (text, place) in [
        (format!(r#"{{"username": "ann", "key": "{hexadecimal}"}}"#), "line 1"),
        (r#"{"a": {"db": {"password": "q7Zk9vR2xT4m"}}, "b": 1}"#.to_owned(), "a.db, line 1"),
        (r#"{"a": [1, {"db": [{"password": "q7Zk9vR2xT4m"}]}]}"#.to_owned(), "a[1].db[0], line 1"),
        ("{\"api_key\": \"q7Zk9vR2\\u0078T4mPq8\"}\n{\"x\": 2}\n".to_owned(), "line 1"),
    ] {
        let (sightings, clean) = scrubbed_of("a.json", &text);
        let clean = clean.expect("clean");
        assert_eq!(sightings.len(), 1, "{text}: {sightings:?}");
        assert!(sightings[0].place.ends_with(place), "{sightings:?}");
        assert!(clean.contains("REMOVED-") && !clean.contains("q7Zk") && !clean.contains(hexadecimal), "{clean}");
        assert!(scrubbed_of("a.json", &clean).0.is_empty(), "{clean}");
    }
    // One that its own form tells counts once; names and values of other things are none.
    let token = ["ghp_zz63FfkCzJr4", "i0B3JrTAwR4y9ojfljoQoaF1"].concat();
    assert_eq!(scrubbed_of("a.json", &format!(r#"{{"token": "{token}"}}"#)).0.len(), 1);
    let others = r#"{"pad_token": "<pad>", "key": "4fd12aabfe228f219e9cb0eb53f16947", "tokenizer_class": "Qwen2Tokenizer", "sha256": "9f86d081884c7d65"}"#;
    assert_eq!(scrubbed_of("a.json", others).0, []);
    // What a name holds is not shown with the place.
    let text = format!(r#"{{"password=q7Zk9vR2xT4m": {{"x": "{token}"}}}}"#);
    let (sightings, _) = scrubbed_of("a.json", &text);
    assert!(!sightings.is_empty() && sightings.iter().all(|one| !one.place.contains("q7Zk9")), "{sightings:?}");
}

#[test]
fn code_and_logs_between_the_marks_of_keys_stay() {
    let begin = ["-----BEGIN ", "PRIVATE KEY-----"].concat();
    let end = begin.replace("BEGIN", "END");
    let code = format!(
        "BEGIN = \"{begin}\"\ndef f(s):\n    return s.startswith(BEGIN) and len(s) > 10\n\ndef g(s):\n    return s.endswith(\"{end}\")\n"
    );
    assert_eq!(scrubbed_of("a.py", &code), (Vec::new(), None));
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n".repeat(3);
    let log = format!("{begin}\n{body}step 1: loss 0.25\n{begin}\n{body}{end}\n");
    let (sightings, clean) = scrubbed_of("a.log", &log);
    assert_eq!(sightings.len(), 2, "one was cut off");
    assert!(clean.expect("clean").contains("step 1: loss 0.25"));
    for whole in [
        format!("{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n{body}{end}\n"),
        format!("key = \"{begin}\\n\" \\\n  \"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\\n{end}\"\n"),
        format!(
            "{}\nVersion: GnuPG v1.4.11 (GNU/Linux)\n\n{body}{}\n",
            begin.replace("KEY", "KEY BLOCK"),
            end.replace("KEY", "KEY BLOCK")
        ),
    ] {
        assert_eq!(scrubbed_of("a.txt", &whole).0.len(), 1, "{whole}");
    }
}

#[test]
fn all_of_a_secret_goes_and_what_comes_in_its_place_fits_there() {
    let (_, clean) = scrubbed_of("a.py", "password = \"k9Zx3Lm2Qp\\\\7Tr5Wn8yB\"\n");
    assert_eq!(clean.as_deref(), Some("password = \"REMOVED-password\"\n"));
    let token = ["hf_", "zz63FfkCzJr4i0B3JrTAwR4y9ojfljoQoa"].concat();
    for text in ["T = b\"TOKEN\"\n", "token: TOKEN\n", "export HF_TOKEN=TOKEN\n"] {
        let (_, clean) = scrubbed_of("a", &text.replace("TOKEN", &token).replace(&format!("HF_{token}"), "HF_TOKEN"));
        let clean = clean.expect("clean");
        assert!(clean.is_ascii() && clean.contains("REMOVED-hugging-face-token"), "{clean}");
    }
}

#[test]
fn an_assignment_is_one_however_it_is_written() {
    let secret = "q7Zk9vR2xT4mPq8Lw3";
    for text in [
        "API_KEY: str = \"VALUE\"\n",
        "API_KEY: Optional[str] = 'VALUE'\n",
        "api_key = (\"VALUE\")\n",
        "api_key = \"\"\"VALUE\"\"\"\n",
        "if (token := \"VALUE\"):\n",
        "client = Client(\n    api_key=\"VALUE\",\n)\n",
        "headers = {\"x-api-key\": \"VALUE\"}\n",
        "headers['x-api-key'] = rb'VALUE'\n",
        "%env WANDB_API_KEY VALUE\n",
        "%set_env API_TOKEN VALUE\n",
        "FROM x\nENV APP_SECRET VALUE\nRUN y\n",
        "password = 'q7Zk9v$R2xT4'\npassword = 'q$$7Zk9vR2xT4'\n",
        "redis://:VALUE@cache.example.org:6379/0\n",
        "machine api.example.org login ann password VALUE\n",
        "machine api.example.org\n  login ann\n  password VALUE\n",
        "default login ann password VALUE\n",
        "!mysql -u root -pVALUE data\n",
    ] {
        let text = text.replace("VALUE", secret);
        let (sightings, clean) = scrubbed_of("a.py", &text);
        let clean = clean.unwrap_or_else(|| panic!("{text}"));
        assert!(!sightings.is_empty() && !clean.contains("q7Zk"), "{text}: {clean}");
    }
}

#[test]
fn names_and_examples_are_no_secrets() {
    let commit = "8f14e45fceea167a5a36dedd4bea2543a1b2c3d4";
    for text in [
        "tokenizer_token = \"Qwen2TokenizerFast\"\n",
        "SECRET_ARN = \"arn:aws:secretsmanager:eu-west-1:123456789012:secret:Prod/App-AbCdEf\"\n",
        &format!("wandb: git commit: {commit}\n"),
        &format!("wandb sha = {commit}\n"),
        "url = \"postgres://user:password@localhost/db\"\n",
        "redis://user:pass@host\n",
        "token = \"$HF_TOKEN_aB3dE5gH\"\n",
        "ENV TOKEN_FILE /run/secrets/Token1A2b3C4d\n",
        "env TOKENIZERS_PARALLELISM false\n",
    ] {
        assert_eq!(scrubbed_of("a.py", text).0, [], "{text}");
    }
}

/// Whatever a notebook holds: it is JSON afterwards, of the same form, and nothing but texts in which there were
/// secrets is another one.
#[test]
fn what_is_changed_are_texts_with_secrets() {
    use proptest::prelude::*;
    let text = || {
        prop_oneof![
            3 => "[ -~]{0,30}",
            2 => "[\\PC\n\t\"'\\\\]{0,20}",
            2 => Just("HF_TOKEN = 'hf_zz63FfkCzJr4i0B3JrTAwR4y9ojfljoQoa'\n".to_owned()),
            1 => Just("password=\"q7Zk9v\\\"R2xT4m\"".to_owned()),
            1 => Just("{\"api_key\": \"q7Zk9vR2xT4mPq8Lw3\"}".to_owned()),
            1 => Just("<span>password=&quot;q7Zk9vR2xT4m&quot;</span>".to_owned()),
        ]
    };
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        text().prop_map(Into::into),
    ];
    let any_json = leaf.prop_recursive(4, 40, 6, move |inner| {
        let name = prop_oneof![4 => "[a-z_]{1,8}", 1 => Just("api_key".to_owned()), 1 => "\\PC{0,6}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec((name, inner), 0..6)
                .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect())),
        ]
    });
    let changed = std::cell::Cell::new(0);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 400, ..ProptestConfig::default() });
    let law = runner.run(&(any_json, any::<bool>(), any::<bool>()), |(value, is_pretty, is_odd)| {
        let value = serde_json::json!({ "cells": [value] });
        let text = if is_pretty { format!("{value:#}") } else { value.to_string() };
        // As Python writes them.
        let text = if is_odd { text.replace("null", "NaN") } else { text };
        let (found, clean) = scrubbed_of("a.ipynb", &text);
        prop_assert_eq!(found.is_empty(), clean.is_none());
        let Some(clean) = clean else { return Ok(()) };
        changed.set(changed.get() + 1);
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(&crate::core::model::json_text::strict(text));
        let (before, after) = (read(&text).expect("JSON"), read(&clean));
        prop_assert!(after.is_ok(), "{clean}");
        prop_assert!(is_alike(&before, &after.expect("JSON")), "{text}\n{clean}");
        Ok(())
    });
    law.unwrap_or_else(|error| panic!("{error}"));
    assert!(changed.get() > 40, "{} had a secret", changed.get());
}

/// Whether `after` is `before` but for texts, and names, with secrets.
fn is_alike(before: &serde_json::Value, after: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Object, String};
    match (before, after) {
        (Array(before), Array(after)) => {
            before.len() == after.len() && before.iter().zip(after).all(|(one, other)| is_alike(one, other))
        }
        (Object(before), Object(after)) => {
            before.len() == after.len()
                && before.iter().zip(after).all(|((name, one), (other_name, other))| {
                    (name == other_name || other_name.contains("REMOVED")) && is_alike(one, other)
                })
        }
        (String(before), String(after)) => before == after || after.contains("REMOVED"),
        _ => before == after,
    }
}

#[test]
fn a_key_over_several_strings_leaves_their_quotes_and_code_is_none() {
    let body = ["MIIEvQIBADANBgkqhkiG9w0B", "AQEFAASCBKcwggSjAgEAAoIBAQC7aB3dE6gH9jK2"].concat();
    let source = [
        "key = (\"-----BEGIN PRIVATE KEY-----\\n\"\n".to_owned(),
        format!("       '{body}\\n'\n"),
        "       \"-----END PRIVATE KEY-----\\n\")\n".to_owned(),
    ];
    let (found, clean) = scrubbed_of("a.py", &source.concat());
    assert_eq!((found.len(), clean), (1, Some(source.concat().replace(&body, "REMOVED-private-key"))));
    let cell = serde_json::json!({"cells": [{"cell_type": "code", "source": source}]}).to_string();
    let (found, clean) = scrubbed_of("a.ipynb", &cell);
    assert_eq!((found.len(), clean), (1, Some(cell.replace(&body, "REMOVED-private-key"))));
    let code = "BEGIN = \"-----BEGIN PRIVATE KEY-----\"\nWIDTH = 64\nALGORITHM = \"RSA\"\nENCODING = \"base64\"\nEND = \"-----END PRIVATE KEY-----\"\n";
    assert_eq!(scrubbed_of("a.py", code), (Vec::new(), None));
}

#[test]
fn two_secrets_get_two_names() {
    let token = |end: &str| format!("hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ1234567{end}");
    let (one, two) = (token("8"), token("9"));
    let text = format!("{{\"{one}\": 1, \"{two}\": 2, \"again\": \"{one}\"}}");
    let name = "REMOVED-hugging-face-token";
    let clean = text.replace(&one, name).replace(&two, &format!("{name}-2"));
    assert_eq!(scrubbed_of("a.json", &text).1, Some(clean));
    // One that is there already is of another secret.
    let text = format!("[t]\n\"{name}\" = 1\n\"{two}\" = 2\n");
    assert_eq!(scrubbed_of("a.toml", &text).1, Some(text.replace(&two, &format!("{name}-2"))));
}

#[test]
fn a_secret_may_stand_beside_letters_of_any_script() {
    let token = ["ghp_zz63FfkCzJr4", "i0B3JrTAwR4y9ojfljoQoaF1"].concat();
    for text in [
        format!("# トークンは{token}です\n"),
        format!("é{token}é\n"),
        format!("{{\"a\": \"私の{token}\"}}"),
        "access_key = \"q7Zk9vR2xT4mPq8Lw3Yd5NbC\"\n".to_owned(),
        "{\"accessKey\": \"q7Zk9vR2xT4mPq8Lw3Yd5NbC\"}".to_owned(),
        "clé_token_für = 'q7Zk9vR2xT4mPq8Lw3Yd5NbC'\n".to_owned(),
    ] {
        let (sightings, clean) = scrubbed_of("a", &text);
        assert_eq!(sightings.len(), 1, "{text}: {sightings:?}");
        assert!(clean.expect("clean").len() < text.len() + 10, "{text}");
    }
    // Letters of its own are no edge.
    assert_eq!(scrubbed_of("a", &format!("x{token}\n")).0, []);
}

/// The letter of an escape is no part of a token; an address may have an `@` in its password.
#[test]
fn a_token_may_stand_behind_an_escape() {
    let token = ["ghp_zz63FfkCzJr4", "i0B3JrTAwR4y9ojfljoQoaF1"].concat();
    for before in ["ok\\n", "a\\t", "\\\\n", "\\u0027", "\\x27", "alice\\r\\n"] {
        for text in [format!("KEYS = \"{before}{token}\"\n"), format!("printf '{before}{token}'\n")] {
            let (sightings, clean) = scrubbed_of("a.py", &text);
            assert_eq!(sightings.len(), 1, "{text}: {sightings:?}");
            assert_eq!(clean, Some(text.replace(&token, "REMOVED-github-token")));
        }
    }
    let text = "u = 'mysql://root:aB3@dE6fG9hJ2kQ@db.example.com/x'\n";
    let clean = "u = 'mysql://root:REMOVED-password-in-address@db.example.com/x'\n";
    assert_eq!(scrubbed_of("a.py", text).1.as_deref(), Some(clean));
}

#[test]
fn blanks_tabs_and_quotes_stand_between_a_name_and_its_value() {
    let value = "q7Zk9vR2xT4mPq8Lw3Yd5NbC";
    for text in [
        format!("password:   {value}\n"),
        format!("token:\t{value}\n"),
        format!("secret : {value}\n"),
        format!("password= {value}\n"),
        format!("tool --token \"{value}\" --out x\n"),
        format!("tool --password '{value}'\n"),
    ] {
        let (sightings, clean) = scrubbed_of("a.txt", &text);
        assert_eq!(sightings.len(), 1, "{text}: {sightings:?}");
        assert!(!clean.expect("clean").contains(value), "{text}");
    }
}

/// The secrets that a file called `name` has.
fn found_in(name: &str, text: &str) -> usize {
    scrubbed_of(name, text).0.len()
}

#[test]
fn lists_of_texts_are_no_pieces_of_one() {
    let (first, second) = ("hf_aBcD1eFgH2iJkL3mNoP4qRsT5uVwX6yZ7A", "ghp_aBcD1eFgH2iJkL3mNoP4qRsT5uVwX6yZ7A8b");
    for key in ["text", "source", "a/b", "lines"] {
        let text = format!("{{\"{key}\": [\"{first}\", \"{second}\", \"Thanks\", \"is it {second}\", \"bye\"]}}");
        assert_eq!(found_in("x.json", &text), 3, "{key}");
        let (_, clean) = scrubbed_of("x.json", &text);
        let clean: serde_json::Value = serde_json::from_str(&clean.expect("a change")).expect("JSON");
        assert_eq!((&clean[key][2], &clean[key][4]), (&"Thanks".into(), &"bye".into()), "{key}");
    }
}

#[test]
fn words_within_random_values_are_chance() {
    for value in [
        "hf_aBcD1eFgH2iJtoDo4qRsT5uVwX6yZ7AbCd",
        "hf_aBcD1eFgH2iJNULLqRsT5uVwX6yZ7AbCdE",
        "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhYmMxMjMifQ.nOneVu7IgNqYSVdcXimbkD7tqZlNM5KKkC3PnBHuJN",
    ] {
        assert_eq!(found_in("x.txt", &format!("token = {value}\n")), 1, "{value}");
    }
    for value in
        ["hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "hf_fakeTokenOfATest12345678901234567", "None", "todo: aBcD1eFgH2"]
    {
        assert_eq!(found_in("x.txt", &format!("token = \"{value}\"\n")), 0, "{value}");
    }
}

#[test]
fn what_accepts_one_value_accepts_no_other_of_the_object() {
    let text = "{\"note\": \"# colab-boot: allow\", \"password\": \"Xk3vB9qLm2Zt7Rw4\", \"api_key\": \"aBcD1eFgH2iJkL3mNoP4qRsT\"}";
    assert_eq!(found_in("x.json", text), 2);
}

#[test]
fn quotes_of_a_shell_and_escapes_of_addresses_are_no_part_of_a_value() {
    let shell = "OUT=`tool --api-key=aBcD1eFgH2iJkL3mNoP4q`\n";
    let (_, clean) = scrubbed_of("x.sh", shell);
    assert!(clean.expect("a change").ends_with("`\n"));
    for text in
        ["?next=%3Ftoken%3Dghp_aBcD1eFgH2iJkL3mNoP4qRsT5uVwX6yZ7A8b", "%22hf_aBcD1eFgH2iJkL3mNoP4qRsT5uVwX6yZ7A%22"]
    {
        assert_eq!(found_in("x.txt", text), 1, "{text}");
    }
}

#[test]
fn names_that_are_put_together_from_words_are_no_secrets() {
    for text in [
        "def f(token: OAuth2Token, n=1): return n",
        "c = C(secret_key=conf.S3SecretKey, n=1)",
        "Password: Pbkdf2HmacSha512 is used",
    ] {
        assert_eq!(found_in("x.py", text), 0, "{text}");
    }
    assert_eq!(found_in("x.sh", "TOKEN=aBcD1eFgH2iJkL3mNoP4qRsT\n"), 1);
    assert_eq!(found_in("x.sh", "TOKEN=éBcD1eFgH2iJkLß3mNoP4qRsT\n"), 1);
}

#[test]
fn times_and_the_next_name_of_a_list_are_no_passwords() {
    for (name, text) in [
        (
            "q.jsonl",
            r#"{"user":"ann","password_changed_at":"2026-01-02T03:04:05Z","passwordExpires":"2027-01-02T03:04:05Z"}"#,
        ),
        ("q.py", r#"cols = ["id", "password", "lastLoginDate", "user_password", "CreatedAt2026"]"#),
        ("q.py", "__all__ = [\n    \"PasswordInput\",\n    \"RadioInput\",\n]\n"),
    ] {
        assert_eq!(found_in(name, text), 0, "{text}");
    }
    assert_eq!(found_in("q.py", r#"password = "Xk3vB9qLm2Zt7Rw4""#), 1);
}

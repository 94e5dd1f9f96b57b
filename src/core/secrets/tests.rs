//! Planted secrets of each kind, and what is none. Values are put together here, so that no file of the project holds
//! one.

use serde_json::{Value, json};

use super::{Baseline, scan, scrubbed};
use crate::core::matrix::secret_formats;

/// A text of this many letters and digits that looks random and is the same each time.
fn random(count: usize, alphabet: &str) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        letters[usize::try_from(state % letters.len() as u64).expect("an index")]
    };
    (0..count).map(|_| next()).collect()
}

const MIXED: &str = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zcFiLoRuZ0";
const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// Tokens that begin with the name of their service.
fn of_services() -> Vec<(&'static str, &'static str, String)> {
    let mixed = |count: usize| random(count, MIXED);
    let hex = |count: usize| random(count, HEX);
    vec![
        ("github-token", "!git clone https://x:{}@host/repo", format!("ghp_{}", mixed(36))),
        ("github-token", "{}", format!("github_pat_{}", mixed(60))),
        ("gitlab-token", "{}", format!("glpat-{}", mixed(20))),
        ("docker-token", "docker login -u me -p {}", format!("dckr_pat_{}", mixed(27))),
        ("digitalocean-token", "{}", format!("dop_v1_{}", hex(64))),
        ("pinecone-key", "Pinecone('{}')", format!("pcsk_{}_{}", mixed(6), mixed(63))),
        ("tavily-key", "TavilyClient('{}')", format!("tvly-dev-{}", mixed(32))),
        ("nvidia-key", "{}", format!("nvapi-{}", mixed(64))),
        ("xai-key", "{}", format!("xai-{}", mixed(80))),
        ("langsmith-key", "{}", format!("lsv2_pt_{}_{}", hex(32), hex(10))),
        ("slack-token", "{}", format!("xapp-1-A{}-{}-{}", random(10, UPPER), random(13, "123456789"), hex(64))),
        ("mailgun-key", "MAILGUN_API_KEY={}", format!("key-{}", hex(32))),
        ("shopify-token", "{}", format!("shpat_{}", hex(32))),
        ("age-key", "{}", format!("AGE-SECRET-KEY-1{}", random(58, UPPER))),
        ("vault-token", "{}", format!("hvs.{}", mixed(90))),
        ("doppler-token", "{}", format!("dp.pt.{}", mixed(43))),
        ("figma-token", "{}", format!("figd_{}", mixed(40))),
        ("linear-key", "{}", format!("lin_api_{}", mixed(40))),
        ("notion-token", "{}", format!("ntn_{}", mixed(46))),
        ("terraform-token", "{}", format!("{}.atlasv1.{}", mixed(14), mixed(67))),
        ("pulumi-token", "{}", format!("pul-{}", hex(40))),
        ("heroku-token", "{}", format!("HRKU-{}", mixed(60))),
        ("twilio-key", "twilio = Client(\"{}\")", format!("SK{}", hex(32))),
        ("telegram-token", "https://api.telegram.org/bot{}/getMe", format!("123456789:AA{}", mixed(33))),
    ]
}

/// A line with a secret of each rule; the rule and the value.
fn planted() -> Vec<(&'static str, String, String)> {
    let mixed = |count: usize| random(count, MIXED);
    let hex = |count: usize| random(count, HEX);
    let jwt = format!("eyJ{}.eyJ{}.{}", mixed(20), mixed(30), mixed(40));
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n{}\n-----END PRIVATE KEY-----", mixed(64), mixed(64));
    let mut rows: Vec<(&str, &str, String)> = vec![
        ("hugging-face-token", "login(token=\"{}\")", format!("hf_{}", mixed(34))),
        ("weights-and-biases-key", "wandb.login(key='{}')", hex(40)),
        ("weights-and-biases-key", "%env WANDB_API_KEY={}", hex(40)),
        ("weights-and-biases-key", "key = {}", format!("wandb_v1_{}", mixed(40))),
        ("kaggle-key", "{{\"username\":\"me\",\"key\":\"{}\"}}", hex(32)),
        ("kaggle-key", "{{\"key\": \"{}\", \"username\": \"me\"}}", hex(32)),
        ("kaggle-key", "export KAGGLE_API_TOKEN={}", format!("KGAT_{}", hex(32))),
        ("google-api-key", "genai.configure(api_key='{}')", format!("AIza{}", mixed(35))),
        ("google-oauth-token", "token: {}", format!("ya29.{}", mixed(60))),
        ("google-refresh-token", "refresh {}", format!("1//0{}", mixed(40))),
        ("google-client-secret", "\"client\": \"{}\"", format!("GOCSPX-{}", mixed(28))),
        ("private-key", "k = '''{}'''", pem),
        ("aws-access-key", "{}", format!("AKIA{}", random(16, UPPER))),
        ("aws-secret-key", "aws_secret_access_key = {}\n", mixed(40)),
        ("azure-storage-key", "AccountName=a;AccountKey={}", format!("{}==", mixed(86))),
        ("anthropic-key", "{}", format!("sk-ant-api03-{}", mixed(60))),
        ("openai-key", "OPENAI_API_KEY={}", format!("sk-proj-{}", mixed(60))),
        ("openai-key", "{}", format!("sk-{}", mixed(48))),
        ("openrouter-key", "{}", format!("sk-or-v1-{}", hex(64))),
        ("groq-key", "{}", format!("gsk_{}", mixed(52))),
        ("replicate-token", "{}", format!("r8_{}", mixed(37))),
        ("perplexity-key", "{}", format!("pplx-{}", mixed(48))),
        ("slack-token", "{}", format!("xoxb-{}-{}", random(12, "123456789"), mixed(24))),
        (
            "slack-webhook",
            "https://hooks.slack.com/services/{}",
            format!("T{}/B{}/{}", mixed(10), mixed(10), mixed(24)),
        ),
        ("discord-webhook", "https://discord.com/api/webhooks/123456789012345678/{}", mixed(68)),
        ("telegram-token", "bot {}", format!("123456789:AA{}", mixed(33))),
        ("json-web-token", "{}", jwt),
        ("bearer-token", "headers={{'Authorization': 'Bearer {}'}}", mixed(40)),
        ("basic-credentials", "Authorization: Basic {}", mixed(32)),
        ("password-in-address", "postgres://admin:{}@db.internal/x", mixed(16)),
        ("token-in-address", "https://host/file?token={}", mixed(32)),
        ("package-index-token", "{}", format!("pypi-AgE{}", mixed(100))),
        ("npm-token", "{}", format!("npm_{}", mixed(36))),
        ("databricks-token", "{}", format!("dapi{}", hex(32))),
        ("neptune-or-comet-key", "COMET_API_KEY='{}'", mixed(25)),
        ("ngrok-token", "!ngrok config add-authtoken {}", format!("{}_{}", mixed(27), mixed(20))),
        ("drive-tunnel", "https://host/tun/m/{}/", mixed(24)),
        ("jupyter-token", "http://localhost:8888/lab?token={}", hex(48)),
        ("stripe-key", "{}", format!("sk_live_{}", mixed(24))),
        ("sendgrid-key", "{}", format!("SG.{}.{}", mixed(22), mixed(43))),
        ("modal-token", "MODAL_TOKEN_SECRET='{}'", format!("as-{}", mixed(22))),
        ("azure-sas", "https://x.blob/c?sv=2024-01-01&st=a&sig={}", mixed(44)),
        ("generic-secret", "client_secret = \"{}\"", mixed(16)),
        ("generic-secret", "config['SECRET_KEY'] = '{}'", mixed(24)),
    ];
    rows.extend(of_services());
    rows.into_iter()
        .chain(passwords())
        .map(|(rule, line, value)| (rule, line.replace("{}", &value).replace("{{", "{").replace("}}", "}"), value))
        .collect()
}

/// What people type for themselves.
fn passwords() -> Vec<(&'static str, &'static str, String)> {
    let mixed = |count: usize| random(count, MIXED);
    vec![
        ("password", "db_password = \"{}\"", mixed(16)),
        ("password", "DB_PASSWORD=\"{}\"", format!("Zx8!{}", mixed(8))),
        ("password", "password='{}'", format!("S3cr{}!9", mixed(2))),
        ("bare-secret", "export PGPASSWORD={}", format!("aB3{}", mixed(13))),
        ("bare-secret", "%env AZURE_KEY {}", mixed(32)),
        ("generic-secret", "os.environ[\"OPENAI_KEY\"] = \"{}\"", mixed(40)),
        ("aws-session-token", "aws_session_token = {}", mixed(300)),
        ("docker-credentials", "{\"auths\": {\"ghcr.io\": {\"auth\": \"{}\"}}}", mixed(40)),
        ("generic-secret", "- name: API_KEY\n  value: {}", mixed(40)),
        ("bare-secret", "token: |\n  {}", mixed(40)),
        ("private-key", "-----BEGIN RSA PRIVATE KEY-----\n{}", mixed(64)),
        ("bearer-token", "Authorization: token {}", mixed(40)),
        ("secret-option", "!tool --hub-token {} --verbose", format!("aB3{}", mixed(13))),
        ("password-on-command-line", "!curl -s -u admin:{} https://host/x", mixed(12)),
        ("password-in-netrc", "machine h.example login ann password {}", mixed(14)),
        ("password-on-command-line", "!sshpass -p {} ssh host", mixed(12)),
        ("password", "DB_PASS = \"{}\"", mixed(16)),
        ("bare-secret", "export SMTP_PASS={}", format!("aB3{}", mixed(13))),
        ("password-in-address", "f\"postgres://${USER}:{}@h/db\"", mixed(16)),
        ("token-in-address", "--index-url https://{}@pypi.example/simple", format!("aB3{}", mixed(30))),
        ("token-in-address", "https://conda.example/t/{}/main", "me-1a2b3c4d-5e6f-7a8b-9c0d-1e2f3a4b5c6d".to_owned()),
        ("bare-secret", "<pre>DB_PASSWORD={}</pre>", format!("aB3{}", mixed(13))),
        ("azure-sas", "https://x.blob/c?sv=2024-01-01&amp;st=a&amp;sig={}", mixed(44)),
        ("bare-secret", "passphrase: {}", format!("aB3{}", mixed(13))),
    ]
}

#[test]
fn every_format_is_found_where_it_stands() {
    let mut seen = std::collections::BTreeSet::new();
    for (rule, line, value) in planted() {
        let text = format!("import os\n{line}\nprint('done')\n");
        let found = scan(&text).expect("rules");
        let said: Vec<(&str, &str)> = found.iter().map(|one| (one.rule, &text[one.span.clone()])).collect();
        assert!(
            said.iter().any(|(_, found)| found.contains(&*value) || value.contains(*found)),
            "{rule}: {line}: {said:?}"
        );
        assert!(said.iter().any(|(found, _)| *found == rule), "{rule}: {line}: {said:?}");
        seen.insert(rule);
        let (_, clean) = scrubbed("a.py", &text, &Baseline::default()).expect("rules");
        assert!(!clean.expect("a change").contains(&value), "{rule}: {line}");
    }
    let all: std::collections::BTreeSet<&str> =
        secret_formats().expect("rules").secret.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(seen, all);
}

#[test]
fn what_is_none_is_none() {
    for line in [
        "token = os.environ['HF_TOKEN']",
        "token = userdata.get('HF_TOKEN')",
        "HF_TOKEN = \"hf_your_token_here_xxxxxxxxxxxxxxxxxxxx\"",
        "pad_token = tokenizer.eos_token",
        "tokenizer = AutoTokenizer.from_pretrained(\"bert-base-uncased-2023-finetuned\")",
        "special_token = \"bert-base-uncased-2023-finetuned\"",
        "auth_token = \"<|endoftext|>\"",
        "secret_name = \"projects/my-project/secrets/database\"",
        "tokenizers = \">=0.21.4,<0.22\"",
        "token_type = \"float16-quantized-model\"",
        "password = \"\"",
        "sha256 = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
        "https://user@host/path",
        "https://x:***@host/repo",
        "https://{user}:{password}@host/repo",
        "git@host:team/repo.git",
        "num_tokens = 100000000000",
        "class TokenClassificationHead(nn.Module):",
        "key = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
        "api_key = \"YOUR_API_KEY_GOES_HERE_123\"",
        "PRIMARY_KEY = \"customer_id_and_order_date\"",
        "CACHE_KEY = 'v2:Embeddings-BGE-base:1024'",
        "export SORT_KEY=created_at_desc_then_id",
        "sk-learn-pipeline-with-a-very-long-name-that-goes-on-and-on-and-on",
    ] {
        assert_eq!(scan(line).expect("rules"), [], "{line}");
    }
    let (_, line, _) = planted().remove(0);
    assert_eq!(scan(&format!("{line}  # colab-boot: allow")).expect("rules"), []);
}

fn notebook(indent: usize) -> (String, Vec<String>) {
    let value = |at: usize| planted()[at].2.clone();
    let pem = value(10);
    let values = vec![value(0), value(2), value(6), value(11), pem.clone(), value(1)];
    let pem: Vec<Value> = pem.split_inclusive('\n').map(Value::from).collect();
    let json = json!({
        "cells": [
            { "cell_type": "code", "metadata": {}, "source": ["x = 1\n", format!("login(token=\"{}\")\n", values[0])],
              "outputs": [{ "output_type": "stream", "name": "stdout", "text": ["é ok\n", format!("WANDB_API_KEY={}\n", values[1])] },
                          { "output_type": "error", "ename": "E", "evalue": "x", "traceback": ["File a", format!("api_key='{}'", values[2])] },
                          { "output_type": "display_data", "data": { "image/png": format!("hf_{}", random(34, HEX)), "text/plain": "fig" }, "metadata": {} }] },
            { "cell_type": "code", "metadata": {}, "source": format!("!git clone https://x:{}@host/repo", values[3]), "outputs": [] },
            { "cell_type": "raw", "metadata": {}, "source": pem },
        ],
        "metadata": { "papermill": { "parameters": { "wandb_key": format!("wandb: {}", values[5]) } } },
        "nbformat": 4, "nbformat_minor": 5,
    });
    let text = match indent {
        0 => json.to_string(),
        _ => serde_json::to_string_pretty(&json).expect("JSON"),
    };
    (text, values)
}

#[test]
fn a_notebook_is_read_as_its_reader_sees_it() {
    for indent in [0, 2] {
        let (text, values) = notebook(indent);
        let (sightings, clean) = scrubbed("a.ipynb", &text, &Baseline::default()).expect("rules");
        let places: Vec<&str> = sightings.iter().map(|one| one.place.as_str()).collect();
        assert_eq!(places.len(), values.len(), "{sightings:#?}");
        for place in ["cell 1, line 2", "cell 1, output, line 2", "cell 2, line 1", "cell 3, line 1"] {
            assert!(places.contains(&place), "{place}: {places:?}");
        }
        assert!(places.iter().any(|place| place.starts_with("metadata.papermill")), "{places:?}");
        let clean = clean.expect("a change");
        for value in &values {
            for line in value.lines().filter(|line| !line.starts_with("-----")) {
                assert!(!clean.contains(line), "{line}");
            }
            assert!(!sightings.iter().any(|one| format!("{one:?}").contains(value.as_str())), "{value}");
        }
        // The picture is no text, and stays; nothing else has changed.
        let (before, after): (Value, Value) =
            (serde_json::from_str(&text).expect("JSON"), serde_json::from_str(&clean).expect("JSON"));
        assert_eq!(before["cells"][0]["outputs"][2], after["cells"][0]["outputs"][2]);
        assert_eq!(before["cells"][0]["source"][0], after["cells"][0]["source"][0]);
        assert_eq!(after["cells"][0]["source"][1], "login(token=\"REMOVED-hugging-face-token\")\n");
        assert_eq!(before["cells"].as_array().map(Vec::len), after["cells"].as_array().map(Vec::len));
        assert_eq!(scrubbed("a.ipynb", &clean, &Baseline::default()).expect("rules"), (Vec::new(), None));
    }
}

#[test]
fn a_file_that_is_no_notebook_is_read_as_text() {
    let (_, line, value) = planted().remove(0);
    for name in ["broken.ipynb", "Broken.JSON", "notes.md", "log", ".env"] {
        let text = format!("{{ not json\n{line}\n");
        let (sightings, clean) = scrubbed(name, &text, &Baseline::default()).expect("rules");
        assert_eq!((sightings.len(), sightings[0].place.as_str(), sightings[0].line), (1, "line 2", 2), "{name}");
        // What is called JSON and is none is reported, and left as it is.
        assert_eq!(clean.is_none(), name.to_lowercase().contains("broken"), "{name}");
        assert!(clean.is_none_or(|clean| !clean.contains(&value)), "{name}");
    }
}

#[test]
fn colours_of_a_terminal_hide_nothing() {
    let token = format!("hf_{}", random(34, MIXED));
    for text in [
        format!("\u{1b}[32m{token}\u{1b}[0m\n"),
        format!("login \u{1b}[1;31m{}\u{1b}[0m{} done", &token[..12], &token[12..]),
        format!("\\u001b[32m{token}\\u001b[0m"),
        format!("\\x1b[32m{token}\\x1b[0m"),
    ] {
        let (found, clean) = scrubbed("log.txt", &text, &Baseline::default()).expect("scrubbed");
        let clean = clean.expect("something was found");
        assert_eq!(found.len(), 1, "{text:?}");
        assert!(clean.contains("REMOVED-hugging-face-token") && !clean.contains(&token[13..]), "{clean:?}");
    }
    let notebook = json!({ "cells": [{ "cell_type": "code", "outputs": [{ "output_type": "stream", "text": [format!("\u{1b}[32m{token}\u{1b}[0m\n")] }] }] });
    let (found, clean) = scrubbed("a.ipynb", &notebook.to_string(), &Baseline::default()).expect("scrubbed");
    assert!(found.len() == 1 && !clean.expect("found").contains(&token));
}

#[test]
fn what_is_about_a_secret_is_none() {
    for line in [
        "token_path=\"/content/drive/MyDrive/k3Ys/tok3N9.json\"",
        "token_file = '/content/9aZ8bY7/x1Y2z3.json'",
        "password_hash_algo=\"pbkdf2Sha256v1X9\"",
        "token=\"meta-llama/Llama-3.1-8B-Instruct\"",
        "token_sha256=\"9f86D081884c7d659A2feaa0c55ad015\"",
        "password = getpass.getpass()",
        "!curl -u $USER:$PASSWORD https://host",
        "!mysql -u root --protocol=tcp",
        "!mysql -u root -p data",
    ] {
        assert_eq!(scan(line).expect("scanned"), [], "{line}");
    }
}

#[test]
fn nobody_quotes_in_shells_headers_and_logs() {
    let value = "SulEETldq8b8Vw2z";
    for text in [
        format!("password={value}"),
        format!("export PGPASSWORD={value}"),
        format!("X-Api-Key: {value}"),
        format!("tool --token {value} --verbose"),
        format!("tool --api-key={value}"),
        format!("MY_SECRET={value}\nNEXT=1"),
    ] {
        let found = scan(&text).expect("rows");
        let values: Vec<&str> = found.iter().map(|one| &text[one.span.clone()]).collect();
        assert_eq!(values, [value], "{text}");
    }
    for text in [
        "\"passwd\": \"1:4.13+dfsg1-1+deb12u1\"",
        "\"token\": \"AutoTokenizer.from_pretrained\"",
        "secret = \"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
        "token=tokenizer.decode(outputs[0])",
        "tokenizer = AutoTokenizer2FromPretrained9",
        "tokenizer=AutoTokenizer2FromPretrained9, x",
        "pipeline(\"x\", tokenizer=Qwen2TokenizerFast, device=0)",
        "tokenizer_cls=T5TokenizerFast, args=args",
        "tokenizer: BertTokenizerFast2V2 loaded",
        "auth_keyring: Oauth2ProviderV2",
        "the token SentencePieceUnigram is new",
        "password=hunter2hunter2",
        "next_token = argmaxOverLogits",
        "auth_token=getTokenFromVault2(name)",
        "--token-file /content/Token9File.txt",
    ] {
        assert!(scan(text).expect("rows").is_empty(), "{text}");
    }
}

#[test]
fn pieces_and_names_of_fields_are_read_as_well() {
    let token = format!("hf_{}", random(34, MIXED));
    let (head, tail) = token.split_at(20);
    let text = format!(
        r#"{{"cells": [{{"cell_type": "code", "source": ["t = '{head}", "{tail}'\n", "x = 1"], "outputs": [], "metadata": {{"{token}": 1}}}}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}"#
    );
    let (found, clean) = scrubbed("a.ipynb", &text, &Baseline::default()).expect("rules");
    let places: Vec<&str> = found.iter().map(|one| one.place.as_str()).collect();
    assert_eq!(places, ["cell 1, line 1", "cell 1, metadata, a key, line 1"], "{found:?}");
    let clean = clean.expect("a change");
    assert!(!clean.contains(head) && !clean.contains(tail) && clean.contains("x = 1"), "{clean}");
    assert!(serde_json::from_str::<serde_json::Value>(&clean).is_ok(), "{clean}");
}

#[test]
fn what_is_written_parses_as_before() {
    let token = format!("hf_{}", random(34, MIXED));
    let source = format!("print(\"run \\\"token={token}\\\" now\")\n");
    let cell = json!({ "cell_type": "code", "source": [source], "outputs": [] }).to_string();
    for (name, text) in [
        ("a.ipynb", format!("{{\"cells\": [{cell}], \"x\": [NaN, -Infinity]}}")),
        ("A.IPYNB", format!("\u{feff}{{\"cells\": [{cell}]}}")),
        ("a.json", format!("{{\"a\": \"\\ud83d {token} \\udc00\", \"b\": \"\\ud83d\\ude00 {token}\"}}")),
        ("a.jsonl", format!("{cell}\n{{\"a\": \"{token}\"}}\n")),
        ("log", format!("{{\"a\": \"\\\"{token}\\\"\"}}\n{{\"b\": NaN}}\n")),
    ] {
        let (found, clean) = scrubbed(name, &text, &Baseline::default()).expect("rules");
        let clean = clean.unwrap_or_else(|| panic!("{name}: {found:?}"));
        assert!(!found.is_empty() && !clean.contains(&token), "{clean}");
        assert_eq!(clean.replace("REMOVED-hugging-face-token", &token), text);
    }
    // The string of the code ends where it did.
    let text = format!("x = \"run \\\"password=Zq8{}\\\" now\"\n", random(20, MIXED));
    let (_, clean) = scrubbed("a.py", &text, &Baseline::default()).expect("rules");
    let clean = clean.expect("a change");
    assert!(clean.contains("REMOVED-") && clean.ends_with("\\\" now\"\n"), "{clean}");
}

#[test]
fn names_of_quotes_hide_nothing_and_many_secrets_take_no_longer() {
    let text = format!("<a data=\"api_key=&quot;{}&quot;\">", random(32, MIXED));
    assert_eq!(scan(&text).expect("rules").len(), 1, "{text}");
    let pgp = format!(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----\n",
        random(9000, MIXED)
    );
    assert_eq!(scan(&pgp).expect("rules").len(), 1);
    let many: Vec<String> = (0..2000).map(|_| format!("hf_{}", random(34, MIXED))).collect();
    for text in [many.join("\n"), many.join(" "), serde_json::to_string(&many).expect("JSON")] {
        assert_eq!(scrubbed("many", &text, &Baseline::default()).expect("rules").0.len(), 2000);
    }
}

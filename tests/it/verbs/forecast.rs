//! What would become of a profile on images that are only described.

use crate::stories::table;
use crate::support::index_server::{IndexServer, Manner};
use crate::support::test::Test;

#[test]
fn each_image_and_each_gpu_gets_its_outlook() {
    let rows: &[(&str, &str, &[&str])] =
        &[("lib", "1.0", &[]), ("torch", "2.9.1", &[]), ("old", "1.0", &["numpy<1.20"])];
    let server = IndexServer::start(table(rows), Manner::Good);
    let profile = |packages: &str| format!("[profile]\nname = 'p'\nversion = '1.0.0'\n[packages]\n{packages}\n");
    let test = Test::new()
        .file("good.toml", &profile("lib = '*'"))
        .file("bad.toml", &profile("lib = '*'\nold = '*'"))
        .set("COLAB_BOOT_INDEX_URL", server.url.clone());
    let run = |arguments: &[&str]| test.run(&[&["forecast"], arguments].concat());
    let two = ["--runtime", "colab-2026.07", "--runtime", "bare-3.12"];
    let outcome = run(&[&["good.toml"], two.as_slice()].concat()).expect(0);
    assert!(outcome.stdout.contains("T4, L4, A100, H100 80GB HBM3, RTX PRO 6000 Blackwell\n"), "{outcome:?}");
    assert!(outcome.stdout.contains("survives: 1 to change, 0 kept"), "{outcome:?}");
    assert!(outcome.stdout.ends_with("forecast: 6 of 6 survive\n"), "{outcome:?}");
    // NumPy of the image is too new, and the index has none: the answer is still one, and each image is asked.
    let json = run(&[&["bad.toml", "--json"], two.as_slice()].concat()).expect(0).json();
    let all = json["report"].as_array().expect("outlooks");
    assert_eq!(all.len(), 6);
    assert!(all.iter().all(|one| one["survives"] == false && one["code"].is_string()), "{all:?}");
    // Without a name, the two newest with a GPU; nothing is written.
    let newest = run(&["good.toml"]).expect(0);
    assert!(newest.stdout.contains("colab-latest-gpu") && newest.stdout.contains("10 of 10"), "{newest:?}");
    assert!(!test.path("good.lock").exists());
    run(&["good.toml", "--runtime", "colab-1999.01"]).expect(2);
    run(&[]).expect(2);
}

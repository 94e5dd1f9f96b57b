//! `tree`: which package of a lock needs which, from the lock alone.

use crate::stories::Day;

#[test]
fn the_packages_of_a_lock_are_a_tree() {
    let day = Day::new(&[
        ("app", "1.0", &["lib>=1", "core"]),
        ("lib", "1.0", &["core"]),
        ("core", "1.0", &["deep"]),
        ("deep", "1.0", &["core"]),
    ]);
    day.profile("profile", &["app", "lib"], "");
    day.test.run(&["tree"]).expect(1).says("colab-boot lock profile.toml");
    day.run(&["lock"]).expect(0);
    let tree = day.test.run(&["tree"]).expect(0).stdout;
    let lines = "├── app 1.0\n│   ├── core 1.0\n│   │   └── deep 1.0\n│   │       └── core 1.0 (*)\n│   └── lib 1.0\n\
                 │       └── core 1.0 (*)\n└── lib 1.0 (*)\n";
    assert_eq!(tree.split_once('\n').expect("lines").1, lines);
    let inverted = day.test.run(&["tree", "--invert", "lib"]).expect(0).stdout;
    assert!(inverted.ends_with("\n└── lib 1.0\n    └── app 1.0\n"), "{inverted}");
    day.test.run(&["tree", "--invert", "coree"]).expect(1).says("did you mean `core`?");
    day.test.run(&["tree", "--target", "other"]).expect(2).says("its targets: ");
    day.run(&["why", "core", "profile.toml"]).expect(0).says("app 1.0 needs core");
}

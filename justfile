# What is typed daily (https://just.systems); CONTRIBUTING.md says how long each takes.

# Format and lints.
lint:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings

# The laws of the house.
house:
    cargo test --test it -- house

# One kind of tests: verbs, adversity, stories, scenarios, live.
tests kind:
    cargo test --test it -- {{kind}}::

# Every case of the sweeps, where CI takes a sample.
sweeps:
    CASES=all cargo test --release --test it -- system_calls:: orphans:: hostile_profile::

# The shipped cells, after a change of what they are made from.
cells:
    cargo run -- export notebook profiles/pytorch.toml --out golden-cells
    cargo run -- export notebook profiles/jax.toml --out golden-cells

# Everything, as CI does it.
ci:
    .ci/run

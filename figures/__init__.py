"""The papers' cluster figures (docs/figures.md): a module per figure, which is what `./stellar figures NAME` runs."""

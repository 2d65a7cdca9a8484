"""Facts behind the demo corpus, read from data packages that only development installs have."""

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A lock file pins every package by version and checksum, and leaves it open where it is fetched from."""
import json
import pathlib
import sys

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
packages = {name: entry for name, entry in json.loads(text)["packages"].items() if name}
wrong = [name for name, entry in packages.items() if not entry.get("version") or not entry.get("integrity")]
if wrong or not packages or "://" in text or '"resolved"' in text:
    sys.exit(f"{sys.argv[1]}: without version or checksum: {wrong}; or an address (npm's omit-lockfile-registry-resolved)")

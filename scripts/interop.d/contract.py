"""Independent readers of the OpenAPI document: Redocly finds no fault in it, and a till that uses the types that
openapi-typescript generates compiles."""

import re
import subprocess
import urllib.request
from pathlib import Path

FILES = Path(__file__).parent / "contract"


def check_contract(base_url: str, place: Path) -> list[str]:
    """`place` has the programs of package.json in `contract/node_modules`."""
    directory = place.resolve() / "contract"
    programs = directory / "node_modules" / ".bin"
    for name in ("confirm.ts", "redocly.yaml"):
        (directory / name).write_bytes((FILES / name).read_bytes())
    with urllib.request.urlopen(f"{base_url}/public/v1/openapi.json", timeout=10) as answer:
        (directory / "openapi.json").write_bytes(answer.read())
    steps = [
        ["redocly", "lint", "--config=redocly.yaml", "--format=stylish", "openapi.json"],
        ["openapi-typescript", "openapi.json", "--output=api.d.ts"],
        ["tsc", "--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom", "--moduleResolution", "bundler",
         "--module", "esnext", "confirm.ts"],
    ]
    complaints = []
    for program, *arguments in steps:
        run = subprocess.run([programs / program, *arguments], check=False, cwd=directory, capture_output=True, text=True)
        said = run.stdout + run.stderr
        (directory / f"{program}.log").write_text(said)
        # Redocly ends with 0 although it warns.
        if run.returncode != 0 or re.search(r"^ +\d+:\d+ +warning ", said, re.MULTILINE):
            print(said)
            complaints.append(f"{program} complains: see {directory / program}.log")
    return complaints

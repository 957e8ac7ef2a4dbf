"""Independent readers of the OpenAPI document: Redocly and Spectral find no fault in it, and tills that use what
openapi-typescript and hey-api generate compile."""

import re
import subprocess
import urllib.request
from pathlib import Path

FILES = Path(__file__).parent / "contract"


def check_contract(base_url: str, place: Path) -> list[str]:
    """`place` has the programs of package.json in `contract/node_modules`."""
    directory = place.resolve() / "contract"
    programs = directory / "node_modules" / ".bin"
    for name in ("confirm.ts", "confirm-hey.ts", "redocly.yaml", "spectral.yaml"):
        (directory / name).write_bytes((FILES / name).read_bytes())
    with urllib.request.urlopen(f"{base_url}/public/v1/openapi.json", timeout=10) as answer:
        (directory / "openapi.json").write_bytes(answer.read())
    steps = [
        ["redocly", "lint", "--config=redocly.yaml", "--format=stylish", "openapi.json"],
        ["spectral", "lint", "--ruleset=spectral.yaml", "--fail-severity=hint", "openapi.json"],
        ["openapi-typescript", "openapi.json", "--output=api.d.ts"],
        ["openapi-ts", "--input=openapi.json", "--output=hey"],
        ["tsc", "--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom", "--moduleResolution", "bundler",
         "--module", "esnext", "confirm.ts", "confirm-hey.ts"],
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

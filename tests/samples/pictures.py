"""Pictures of words; where these are not read, as by default, they have no text."""

from tests.samples import Sample, _jpeg, _pictures

_LINES = ("The lamp was lit at dusk", "and put out at dawn.")


def page() -> _pictures.Drawn:
    """A page with two lines."""
    return _pictures.drawn(*_LINES)


SAMPLES = [
    Sample("lamp.png", lambda: _pictures.png(*page()), outcome="no_text", media_type="image/png"),
    Sample("lamp.tiff", lambda: _pictures.tiff([page(), page()]), outcome="no_text", media_type="image/tiff"),
    Sample("lamp.bmp", lambda: _pictures.bmp(*page()), outcome="no_text", media_type="image/bmp"),
    Sample("lamp.gif", lambda: _pictures.gif(*page()), outcome="no_text", media_type="image/gif"),
    Sample("lamp.jpeg", lambda: _jpeg.jpeg(*page()), outcome="no_text", media_type="image/jpeg"),
    Sample("lamp.webp", lambda: _pictures.webp(*page()), outcome="no_text", media_type="image/webp"),
]

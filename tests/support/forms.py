"""Multipart bodies written by hand, so that they can also be wrong."""

BOUNDARY = "frontier"
FORM_HEADERS = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


def form(*parts: tuple[str, str | None, bytes], closed: bool = True) -> bytes:
    """A form of (name, filename, value) parts; not `closed`, it ends in the middle."""
    body = b""
    for name, filename, value in parts:
        attribute = f'; filename="{filename}"' if filename is not None else ""
        body += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{attribute}\r\n\r\n'.encode()
        body += value + b"\r\n"
    return body + (f"--{BOUNDARY}--\r\n".encode() if closed else b"")

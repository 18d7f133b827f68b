"""What people touch: command line, HTTP application, web pages and the local stack."""

VERSION = "0.1.0"
"""The release; a test compares it with pyproject.toml, the image and docker-compose.yml."""

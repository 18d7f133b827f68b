"""The front door: accepts documents."""

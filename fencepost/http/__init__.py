"""The HTTP application: routes of all rooms, problems, guards and health."""

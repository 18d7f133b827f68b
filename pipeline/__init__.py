"""The ground floor: what a job is, where it may be, and who may move it."""

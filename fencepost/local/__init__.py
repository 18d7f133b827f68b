"""The whole of Fencepost on one machine: real servers, our processes, one supervisor, no containers."""

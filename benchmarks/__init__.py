"""Measurements of speed, as ratios against the raw limit in the same run."""

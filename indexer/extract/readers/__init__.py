"""The readers, one file per format; `indexer.extract.kinds` is their register."""

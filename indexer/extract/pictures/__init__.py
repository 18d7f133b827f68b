"""Pictures: how large one is before it is unpacked, and the words that Tesseract recognises in it."""

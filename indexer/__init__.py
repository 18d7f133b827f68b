"""The work: extracts text from documents, publishes it and searches it."""

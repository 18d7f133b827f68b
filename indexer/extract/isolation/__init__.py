"""Where readers run: what a document can do to its reader ends in here.

    pool ─▶ nursery ─▶ forkserver ─▶ child, in its sandbox (Landlock and the filter of syscalls)
      └───────────── wire ────────────┘

`pool` is the door for the worker; the rest of the room above knows nothing of processes.
"""

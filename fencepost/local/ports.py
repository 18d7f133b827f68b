"""Free TCP ports of this machine."""

import random
import socket

LOOPBACK = "127.0.0.1"
# Below the range from which systems take the ports of outgoing connections: a client that keeps calling a server which
# is down could otherwise be given that very port, and would connect to itself.
CANDIDATES = range(20_000, 32_000)


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen on `port` at this moment."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port on which nothing listens now; somebody else may still be quicker to take it."""
    dice = random.SystemRandom()
    return next(port for port in iter(lambda: dice.choice(CANDIDATES), None) if is_free(port))

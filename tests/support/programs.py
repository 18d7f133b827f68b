"""Small real programs that stand in for the processes of Fencepost in tests of the supervisor."""

import sys

from fencepost.local.supervisor import Program

SERVES_HEALTH = """
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Health(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

print("serving on", os.environ["FENCEPOST_PORT"])
HTTPServer((os.environ["FENCEPOST_HOST"], int(os.environ["FENCEPOST_PORT"])), Health).serve_forever()
"""
WAITS = "import signal; print('here'); signal.pause()"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('here')\nwhile True: signal.pause()"
HAS_A_CHILD = """
import subprocess, sys, signal
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
print("child", child.pid)
signal.pause()
"""


def python(name: str, code: str) -> Program:
    """A child process called `name` that runs `code`."""
    return Program(name, [sys.executable, "-P", "-c", code])

"""What a node of a replay serves: whoever says how many bytes it wants, in one line, is sent as many.

    python3 serve.py ADDRESS PORT

What tasks leave behind for others is not kept: only its size and where it lies matter. Runs alone on a node, so it
imports the standard library only.
"""

from __future__ import annotations

import socketserver
import sys

CHUNK = bytes(1 << 16)
LONGEST_LINE = 20


class Sending(socketserver.StreamRequestHandler):
    """One connection."""

    def handle(self) -> None:
        wanted = int(self.rfile.readline(LONGEST_LINE))
        while wanted > 0:
            wanted -= self.request.send(CHUNK[:wanted])


class Server(socketserver.ThreadingTCPServer):
    """A thread for each connection; those of a server that ends end with it."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    with Server((sys.argv[1], int(sys.argv[2])), Sending) as server:
        server.serve_forever()

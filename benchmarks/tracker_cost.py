"""`python -m benchmarks.tracker_cost`: what `heddle yarn track` costs with 50 containers of three processes each.

The containers are processes that sleep, marked as YARN marks them; what the tracker reads of a process does not depend
on what the process does.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

CONTAINERS, SECONDS = 50, 30
THREE = "sleep 300 & sleep 300 & wait"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        started = [
            subprocess.Popen(
                ["sh", "-c", THREE],
                env={**os.environ, "CONTAINER_ID": f"container_1_0001_01_{number:06d}"},
                start_new_session=True,
            )
            for number in range(CONTAINERS)
        ]
        try:
            track = ["yarn", "track", str(Path(folder) / "samples.jsonl"), "--for", str(SECONDS)]
            subprocess.run([sys.executable, "-c", "from heddle.cli.main import main; main()", *track], check=True)
        finally:
            for process in started:
                os.killpg(process.pid, 15)
                process.wait()


if __name__ == "__main__":
    main()

"""Every file of a trace is the fuzzer's."""

from pathlib import Path

import pytest

from heddle.model.errors import HeddleError
from traces.formats.samples import SAMPLES

from . import of_traces
from .served import BETWEEN
from .targets import TARGETS


class Seen(HeddleError):
    """The files as an import would find them."""

    def __init__(self, folder: str) -> None:
        self.files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.mark.parametrize("name", [name for name, files in SAMPLES.items() if len(files) > 1])
def test_each_file_of_a_trace_alone_and_all_together(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def import_trace(folders: list[str], name: str) -> None:
        raise Seen(folders[0])

    monkeypatch.setattr(of_traces, "import_trace", import_trace)

    def files_of(data: bytes) -> dict[str, bytes]:
        with pytest.raises(Seen) as seen:
            TARGETS[f"trace-{name}"](data)
        return seen.value.files

    samples = SAMPLES[name]
    order = sorted(samples, key=lambda file: -len(samples[file]))
    for place, file in enumerate(order):
        assert files_of(BETWEEN * place + b"new") == samples | {file: b"new"}
    assert files_of(b"") == samples | {order[0]: b""}
    news = [str(place).encode() for place in range(len(order))]
    assert files_of(BETWEEN.join(news)) == dict(zip(order, news, strict=True))

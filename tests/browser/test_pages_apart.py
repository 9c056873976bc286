"""What a page asks for is not laid at the door of the page that is opened after it."""

from __future__ import annotations

from pathlib import Path

from browser.chromium import Chromium

RESTLESS = """<!doctype html><main></main><script>
asked = 0;
setInterval(() => { asked += 1; fetch('http://127.0.0.1:9/').catch(() => 0) }, 1);
</script>"""


def test_a_page_that_was_left_is_not_heard_any_more(browser: Chromium, tmp_path: Path) -> None:
    restless, quiet = tmp_path / "restless.html", tmp_path / "quiet.html"
    restless.write_text(RESTLESS)
    quiet.write_text("<!doctype html><main>nothing to ask for</main>")
    for _ in range(5):
        browser.open(restless)
        browser.until("asked > 0")
        assert "asked for http://127.0.0.1:9/" in browser.complaints()
        browser.open(quiet)
        assert browser.complaints() == []

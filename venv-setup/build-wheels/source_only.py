"""A build backend that builds nothing.

pip downloads a source archive only after asking its backend for metadata, and for numpy that means compiling numpy.
This module is put in the place of the backends that our sources name (see fetch_sdist in common.sh) and answers with
what the source's PKG-INFO says.
"""

import re
from pathlib import Path

__all__ = ["build_wheel", "get_requires_for_build_wheel", "prepare_metadata_for_build_wheel"]


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    described = Path("PKG-INFO").read_text()  # pip calls backends from the unpacked source
    name, version = (re.search(rf"^{key}: (.+)$", described, re.MULTILINE)[1] for key in ("Name", "Version"))
    info = Path(metadata_directory) / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: source_only\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    return info.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    raise NotImplementedError("source_only builds nothing")

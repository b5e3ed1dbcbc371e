"""Packs a folder laid out like site-packages into a wheel, the same bytes for the same files.

    pack_wheel.py --tag TAG --output DIR TREE

TREE holds one *.dist-info with METADATA; WHEEL and RECORD are written here.
"""

import argparse
import base64
import csv
import hashlib
import io
import zipfile
from pathlib import Path

EPOCH = (2026, 1, 1, 0, 0, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", required=True)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("tree", type=Path)
    args = parser.parse_args()
    infos = list(args.tree.glob("*.dist-info"))
    if len(infos) != 1 or not (infos[0] / "METADATA").exists():
        raise SystemExit(f"{args.tree} must hold one *.dist-info with METADATA, found {[str(i) for i in infos]}")
    info = infos[0]
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: torch-ane\nRoot-Is-Purelib: false\nTag: {args.tag}\n")
    (info / "RECORD").unlink(missing_ok=True)
    files = sorted(p for p in args.tree.rglob("*") if p.is_file())
    files.sort(key=lambda p: p.is_relative_to(info))  # the format asks for dist-info at the end
    target = args.output / f"{info.name.removesuffix('.dist-info')}-{args.tag}.whl"
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    with zipfile.ZipFile(target.with_suffix(".part"), "w") as wheel:

        def add(name: str, data: bytes, executable: bool) -> None:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            wheel.writestr(entry, data, compresslevel=9)

        for path in files:
            name, data = path.relative_to(args.tree).as_posix(), path.read_bytes()
            add(name, data, executable=bool(path.stat().st_mode & 0o100) or ".so" in path.name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.writerow([name, f"sha256={digest}", len(data)])
        name = f"{info.name}/RECORD"
        rows.writerow([name, "", ""])
        add(name, record.getvalue().encode(), executable=False)
    target.with_suffix(".part").rename(target)
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    print(f"{digest}  {target.name}  {target.stat().st_size} bytes, {len(files) + 1} files")


if __name__ == "__main__":
    main()

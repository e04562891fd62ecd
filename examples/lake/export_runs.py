"""Export each run of a store into a partition of its own, unless it is there: export_runs.py STORE DIRECTORY."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

store, lake = sys.argv[1], Path(sys.argv[2])


def riff_tui(*arguments):
    command = [Path(sys.executable).parent / "riff-tui", *arguments, "--store", store]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


for each in json.loads(riff_tui("dump", "runs", "--format", "json"))["rows"]:
    partition = lake / f"run={quote(each['run'], safe='')}"
    if not (partition / "scores.parquet").exists():
        partition.mkdir(parents=True, exist_ok=True)
        name = json.dumps(each["run"], ensure_ascii=False)  # quoted as the filter takes it
        riff_tui("export", "--where", f"run={name}", "--output", str(partition / "scores.parquet"))
        print(partition)

"""Turn a test run of DeepEval into flow transcripts and scores: deepeval.py TEST_RUN DIRECTORY."""

import json
import sys
from pathlib import Path

from shared import Call, of_file

(run,), directory = of_file(sys.argv[1]), Path(sys.argv[2])
cases = run.get("conversationalTestCases") or []
if not cases:
    sys.exit("no conversations: only conversationalTestCases are calls, testCases are single answers")
stem, flow = Path(sys.argv[1]).stem, run.get("identifier") or run.get("datasetAlias") or "deepeval"
with (
    open(directory / f"flow-transcripts-{stem}.jsonl", "w", encoding="utf-8") as calls,
    open(directory / f"humanness-{stem}.jsonl", "w", encoding="utf-8") as scores,
):
    for number, case in enumerate(cases, 1):
        call, name = Call(), f"{stem}/{number}"
        for turn in case.get("turns") or []:
            for tool in turn.get("toolsCalled") or []:
                call.use(tool["name"], tool.get("inputParameters", tool.get("input_parameters")))
                call.tools[-1]["result"] = tool.get("output")
            if turn.get("content"):
                call.say("caller" if turn.get("role") == "user" else "agent", turn["content"])
        of = {"conversation_id": name, "run_id": stem}
        print(call.line(**of, flow=flow, scenario=case.get("scenario") or case.get("name")), file=calls)
        for metric in case.get("metricsData") or []:  # one that failed to run has judged nothing, and is not 0
            share = None if metric.get("error") else metric.get("score")
            score = 10 * share if share is not None and 0 <= share <= 1 else None
            judge = {"judge": metric.get("evaluationModel") or "deepeval", "aspect": metric["name"]}
            print(json.dumps(of | judge | {"score": score, "rationale": metric.get("reason")}), file=scores)

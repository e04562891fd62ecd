"""Hold the SQL that leads from one schema of the store to the next; what was once written stays as it is."""

from __future__ import annotations

EDITS_AND_EVIDENCE = """
ALTER TABLE "judged_score" ADD COLUMN "prompt_version" TEXT;
ALTER TABLE "judged_score" ADD COLUMN "evidence" TEXT;
CREATE TABLE "flow_edit" ("repository" TEXT NOT NULL, "flow_name" TEXT NOT NULL, "position" INTEGER NOT NULL,
  "commit" TEXT NOT NULL, "time" INTEGER NOT NULL, "author" TEXT NOT NULL, "subject" TEXT NOT NULL,
  "path" TEXT NOT NULL, PRIMARY KEY ("repository", "flow_name", "position")) WITHOUT ROWID
"""

# A call is told apart by flow, agent and trial too, a judge by its model; where neither flag nor terminal says how a
# call ended, its stall is not known. Computed turn-taking goes from 0 to 1. What only the files can tell, such as lost
# calls, is left open until they are read again.
IDENTITY_AND_QUALITY = """
ALTER TABLE "conversation" ADD COLUMN "success" INTEGER;
ALTER TABLE "conversation" ADD COLUMN "quality" REAL;
ALTER TABLE "conversation" ADD COLUMN "computed_quality" REAL;
ALTER TABLE "conversation" ADD COLUMN "lost" INTEGER;
DROP INDEX "conversation_run_id_name";
CREATE UNIQUE INDEX "conversation_run_id_name_flow_id_agent_id_trial"
  ON "conversation" ("run_id", "name", "flow_id", "agent_id", "trial");
ALTER TABLE "judged_score" ADD COLUMN "flow_name" TEXT;
ALTER TABLE "judged_score" ADD COLUMN "agent_name" TEXT;
ALTER TABLE "judged_score" ADD COLUMN "trial" INTEGER;
ALTER TABLE "judged_score" ADD COLUMN "conversation_id" INTEGER REFERENCES "conversation" ("id");
ALTER TABLE "skipped_input" ADD COLUMN "flow" TEXT;
ALTER TABLE "skipped_input" ADD COLUMN "agent" TEXT;
ALTER TABLE "skipped_input" ADD COLUMN "trial" INTEGER;
ALTER TABLE "state_score" RENAME TO "older_state_score";
CREATE TABLE "state_score" ("conversation_id" INTEGER NOT NULL, "state_id" INTEGER NOT NULL, "segment_id"
  INTEGER NOT NULL, "progress" INTEGER NOT NULL, "stall" INTEGER, "escalation" INTEGER NOT NULL, "revisit"
  INTEGER NOT NULL, "dwell_turns" REAL NOT NULL, "latency_p95_ms" REAL, "guard_error" INTEGER NOT NULL,
  "slot_fill_rate" REAL, "lost" INTEGER, "position" INTEGER, PRIMARY KEY ("conversation_id", "state_id"),
  FOREIGN KEY ("conversation_id") REFERENCES "conversation" ("id") ON DELETE CASCADE, FOREIGN KEY ("state_id")
  REFERENCES "state" ("id"), FOREIGN KEY ("segment_id") REFERENCES "segment" ("id")) WITHOUT ROWID;
INSERT INTO "state_score" ("conversation_id", "state_id", "segment_id", "progress", "stall", "escalation", "revisit",
    "dwell_turns", "latency_p95_ms", "guard_error", "slot_fill_rate")
  SELECT "conversation_id", "state_id", "segment_id", "progress", "stall", "escalation", "revisit",
    "dwell_turns", "latency_p95_ms", "guard_error", "slot_fill_rate" FROM "older_state_score";
DROP TABLE "older_state_score";
CREATE TABLE "outcome_visit" ("conversation_id" INTEGER NOT NULL, "state_id" INTEGER NOT NULL, "position"
  INTEGER NOT NULL, PRIMARY KEY ("conversation_id", "state_id"), FOREIGN KEY ("conversation_id") REFERENCES
  "conversation" ("id") ON DELETE CASCADE, FOREIGN KEY ("state_id") REFERENCES "state" ("id")) WITHOUT ROWID;
CREATE TABLE "call_failure" ("conversation_id" INTEGER NOT NULL PRIMARY KEY, "last_ok_id" INTEGER,
  "first_failed_id" INTEGER, "kind" TEXT NOT NULL, "detail_id" INTEGER, "error_id" INTEGER, FOREIGN KEY
  ("conversation_id") REFERENCES "conversation" ("id") ON DELETE CASCADE, FOREIGN KEY ("last_ok_id") REFERENCES
  "state" ("id"), FOREIGN KEY ("first_failed_id") REFERENCES "state" ("id"), FOREIGN KEY ("detail_id")
  REFERENCES "label" ("id"), FOREIGN KEY ("error_id") REFERENCES "label" ("id"));
DROP TABLE "call_rollup";
CREATE TABLE "call_rollup" ("flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "run_id" INTEGER NOT NULL,
  "n" INTEGER NOT NULL, "excluded" INTEGER NOT NULL, "first_at" INTEGER, "success_n" INTEGER NOT NULL,
  "success" INTEGER NOT NULL, "lost_n" INTEGER NOT NULL, "lost" INTEGER NOT NULL, "quality_n" INTEGER NOT NULL,
  "quality" INTEGER NOT NULL, "quality_squares" REAL NOT NULL, "computed_quality" INTEGER NOT NULL,
  "computed_quality_squares" REAL NOT NULL, PRIMARY KEY ("flow_id", "agent_id", "run_id"), FOREIGN KEY
  ("flow_id") REFERENCES "flow" ("id"), FOREIGN KEY ("agent_id") REFERENCES "agent" ("id"), FOREIGN KEY
  ("run_id") REFERENCES "run" ("id")) WITHOUT ROWID;
DROP TABLE "state_rollup";
CREATE TABLE "state_rollup" ("flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "run_id" INTEGER NOT NULL,
  "state_id" INTEGER NOT NULL, "segment_id" INTEGER NOT NULL, "n" INTEGER NOT NULL, "progress" INTEGER NOT
  NULL, "stall_n" INTEGER NOT NULL, "stall" INTEGER NOT NULL, "lost_n" INTEGER NOT NULL, "lost" INTEGER NOT
  NULL, "escalation" INTEGER NOT NULL, "revisit" INTEGER NOT NULL, "revisit_squares" REAL NOT NULL, "dwell"
  INTEGER NOT NULL, "dwell_squares" REAL NOT NULL, "latency_n" INTEGER NOT NULL, "latency" INTEGER NOT NULL,
  "latency_squares" REAL NOT NULL, "guard_error" INTEGER NOT NULL, "guard_error_squares" REAL NOT NULL,
  "slot_n" INTEGER NOT NULL, "slot" INTEGER NOT NULL, "slot_squares" REAL NOT NULL, PRIMARY KEY ("flow_id",
  "agent_id", "run_id", "state_id", "segment_id"), FOREIGN KEY ("flow_id") REFERENCES "flow" ("id"), FOREIGN
  KEY ("agent_id") REFERENCES "agent" ("id"), FOREIGN KEY ("run_id") REFERENCES "run" ("id"), FOREIGN KEY
  ("state_id") REFERENCES "state" ("id"), FOREIGN KEY ("segment_id") REFERENCES "segment" ("id")) WITHOUT ROWID;
DROP TABLE "state_total";
CREATE TABLE "state_total" ("flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "state_id" INTEGER NOT
  NULL, "segment_id" INTEGER NOT NULL, "n" INTEGER NOT NULL, "progress" INTEGER NOT NULL, "stall_n" INTEGER NOT
  NULL, "stall" INTEGER NOT NULL, "lost_n" INTEGER NOT NULL, "lost" INTEGER NOT NULL, "escalation" INTEGER NOT
  NULL, "revisit" INTEGER NOT NULL, "revisit_squares" REAL NOT NULL, "dwell" INTEGER NOT NULL, "dwell_squares"
  REAL NOT NULL, "latency_n" INTEGER NOT NULL, "latency" INTEGER NOT NULL, "latency_squares" REAL NOT NULL,
  "guard_error" INTEGER NOT NULL, "guard_error_squares" REAL NOT NULL, "slot_n" INTEGER NOT NULL, "slot"
  INTEGER NOT NULL, "slot_squares" REAL NOT NULL, PRIMARY KEY ("flow_id", "agent_id", "state_id",
  "segment_id"), FOREIGN KEY ("flow_id") REFERENCES "flow" ("id"), FOREIGN KEY ("agent_id") REFERENCES "agent"
  ("id"), FOREIGN KEY ("state_id") REFERENCES "state" ("id"), FOREIGN KEY ("segment_id") REFERENCES "segment"
  ("id")) WITHOUT ROWID;
CREATE TABLE "newer_judge" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL, "prompt_hash" TEXT NOT NULL,
  "model" TEXT NOT NULL);
INSERT INTO "newer_judge" ("id", "name", "prompt_hash", "model")
  SELECT "id", "name", "prompt_hash", '' FROM "judge" WHERE "id" = 1;
INSERT INTO "newer_judge" ("name", "prompt_hash", "model")
  SELECT g."name", g."prompt_hash", COALESCE(s."model", '')
  FROM "judged_score" s JOIN "judge" g ON g."id" = s."judge_id"
  GROUP BY 1, 2, 3 ORDER BY MIN(s."source_file_id"), MIN(s."line");
DELETE FROM "aspect_score" WHERE "judge_id" <> 1;
UPDATE "judged_score" SET "judge_id" = (SELECT j."id" FROM "newer_judge" j JOIN "judge" g
    ON g."name" = j."name" AND g."prompt_hash" = j."prompt_hash"
  WHERE g."id" = "judged_score"."judge_id" AND j."model" = COALESCE("judged_score"."model", ''));
DROP TABLE "judge";
ALTER TABLE "newer_judge" RENAME TO "judge";
CREATE UNIQUE INDEX "judge_name_model_prompt_hash" ON "judge" ("name", "model", "prompt_hash");
UPDATE "aspect_score" SET "value" = "value" / 10.0
  WHERE "judge_id" = 1 AND "aspect_id" IN (SELECT "id" FROM "aspect" WHERE "name" = 'turn_taking');
ALTER TABLE "flow_edit" ADD COLUMN "merged" INTEGER NOT NULL DEFAULT 1;
CREATE TABLE "repository" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL);
CREATE UNIQUE INDEX "repository_name" ON "repository" ("name");
CREATE TABLE "history_node" ("repository_id" INTEGER NOT NULL, "position" INTEGER NOT NULL, "commit" BLOB,
  "parents" TEXT NOT NULL, PRIMARY KEY ("repository_id", "position"), FOREIGN KEY ("repository_id") REFERENCES
  "repository" ("id")) WITHOUT ROWID;
CREATE TABLE "known_commit" ("commit" BLOB NOT NULL PRIMARY KEY, "repository_id" INTEGER NOT NULL, "node" INTEGER,
  FOREIGN KEY ("repository_id") REFERENCES "repository" ("id")) WITHOUT ROWID;
UPDATE "source_file" SET "reader" = 0
"""

# What played the caller, and whether it kept to its part; which calls then count is summed anew at the end.
CALLERS = """
CREATE TABLE "caller" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL);
CREATE UNIQUE INDEX "caller_name" ON "caller" ("name");
ALTER TABLE "conversation" ADD COLUMN "caller_id" INTEGER REFERENCES "caller" ("id");
ALTER TABLE "conversation" ADD COLUMN "caller_ok" INTEGER;
DROP TABLE "call_rollup";
CREATE TABLE "call_rollup" ("flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "run_id" INTEGER NOT NULL,
  "n" INTEGER NOT NULL, "excluded" INTEGER NOT NULL, "first_at" INTEGER, "success_n" INTEGER NOT NULL,
  "success" INTEGER NOT NULL, "lost_n" INTEGER NOT NULL, "lost" INTEGER NOT NULL, "quality_n" INTEGER NOT NULL,
  "quality" INTEGER NOT NULL, "quality_squares" REAL NOT NULL, "computed_quality" INTEGER NOT NULL,
  "computed_quality_squares" REAL NOT NULL, "caller_failed" INTEGER NOT NULL, "caller_success_n" INTEGER NOT NULL,
  "caller_success" INTEGER NOT NULL, PRIMARY KEY ("flow_id", "agent_id", "run_id"), FOREIGN KEY ("flow_id")
  REFERENCES "flow" ("id"), FOREIGN KEY ("agent_id") REFERENCES "agent" ("id"), FOREIGN KEY ("run_id")
  REFERENCES "run" ("id")) WITHOUT ROWID
"""

# How the sides of voice calls shared the line, what people wrote, and which of two copies of a call is the fuller one.
INTERACTION_AND_NOTES = """
ALTER TABLE "conversation" ADD COLUMN "filled" INTEGER NOT NULL DEFAULT 0;
CREATE TABLE "call_interaction" ("conversation_id" INTEGER NOT NULL PRIMARY KEY, "response" INTEGER NOT NULL,
  "no_response" INTEGER NOT NULL, "response_latency" REAL NOT NULL, "yielded" INTEGER NOT NULL, "no_yield" INTEGER
  NOT NULL, "yield_latency" REAL NOT NULL, "backchannel_correct" INTEGER NOT NULL, "backchannel_error" INTEGER NOT
  NULL, "vocal_tic_correct" INTEGER NOT NULL, "vocal_tic_error" INTEGER NOT NULL, "non_directed_correct" INTEGER NOT
  NULL, "non_directed_error" INTEGER NOT NULL, "agent_interruptions" INTEGER NOT NULL, FOREIGN KEY
  ("conversation_id") REFERENCES "conversation" ("id") ON DELETE CASCADE);
CREATE TABLE "interaction_rollup" ("flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "run_id" INTEGER NOT
  NULL, "errored" INTEGER NOT NULL, "calls" INTEGER NOT NULL, "response" INTEGER NOT NULL, "no_response" INTEGER NOT
  NULL, "response_latency" INTEGER NOT NULL, "yielded" INTEGER NOT NULL, "no_yield" INTEGER NOT NULL,
  "yield_latency" INTEGER NOT NULL, "backchannel_correct" INTEGER NOT NULL, "backchannel_error" INTEGER NOT NULL,
  "vocal_tic_correct" INTEGER NOT NULL, "vocal_tic_error" INTEGER NOT NULL, "non_directed_correct" INTEGER NOT NULL,
  "non_directed_error" INTEGER NOT NULL, "agent_interruptions" INTEGER NOT NULL, PRIMARY KEY ("flow_id", "agent_id",
  "run_id", "errored"), FOREIGN KEY ("flow_id") REFERENCES "flow" ("id"), FOREIGN KEY ("agent_id") REFERENCES
  "agent" ("id"), FOREIGN KEY ("run_id") REFERENCES "run" ("id")) WITHOUT ROWID;
CREATE TABLE "annotation" ("id" TEXT NOT NULL PRIMARY KEY, "source_file_id" INTEGER, "run_name" TEXT, "flow_name"
  TEXT, "agent_name" TEXT, "conversation_name" TEXT NOT NULL, "trial" INTEGER, "turn" INTEGER, "state_name" TEXT,
  "verdict" TEXT, "code" TEXT, "note" TEXT, "labels" TEXT NOT NULL, "author" TEXT NOT NULL, "at" INTEGER,
  "supersedes" TEXT, "deleted" INTEGER NOT NULL, FOREIGN KEY ("source_file_id") REFERENCES "source_file" ("id"));
CREATE INDEX "annotation_source_file_id" ON "annotation" ("source_file_id");
CREATE INDEX "annotation_conversation_name" ON "annotation" ("conversation_name")
"""

# Who renamed the codes of others, and the calls that were drawn for people to read.
READING = """
ALTER TABLE "annotation" ADD COLUMN "editor" TEXT;
CREATE TABLE "sample" ("id" INTEGER NOT NULL PRIMARY KEY, "n" INTEGER NOT NULL, "mix" TEXT NOT NULL, "seed" INTEGER
  NOT NULL, "expression" TEXT NOT NULL, "drawn_at" INTEGER NOT NULL);
CREATE TABLE "sampled_call" ("position" INTEGER NOT NULL PRIMARY KEY, "run_name" TEXT NOT NULL, "flow_name" TEXT NOT
  NULL, "agent_name" TEXT NOT NULL, "conversation_name" TEXT NOT NULL, "trial" INTEGER NOT NULL, "stratum" TEXT NOT
  NULL, "figure" TEXT, "value" REAL, "median" REAL)
"""

# Columns of calls beside their rows, dictionaries of transcripts, and who wrote a run.
SCALE = """
CREATE TABLE "column_chunk" ("name" TEXT NOT NULL, "row_group" INTEGER NOT NULL, "n" INTEGER NOT NULL, "body" BLOB NOT
  NULL, PRIMARY KEY ("name", "row_group"));
CREATE INDEX "column_chunk_row_group" ON "column_chunk" ("row_group");
CREATE TABLE "text_dictionary" ("id" INTEGER NOT NULL PRIMARY KEY, "body" BLOB NOT NULL);
ALTER TABLE "transcript" ADD COLUMN "dictionary_id" INTEGER REFERENCES "text_dictionary" ("id");
ALTER TABLE "run" ADD COLUMN "written_by" TEXT;
CREATE INDEX "judged_score_of_no_call" ON "judged_score" ("run_id", "conversation_name")
  WHERE ("conversation_id" IS NULL);
CREATE INDEX "skipped_input_replaced" ON "skipped_input" ("source_file_id") WHERE ("kind" = 'replaced')
"""

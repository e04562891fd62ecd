"""Hold the tables and indexes of schema 1, from which steps lead to all later ones."""

from __future__ import annotations

FIRST = """
CREATE TABLE "agent" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL);
CREATE TABLE "aspect" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL);
CREATE TABLE "aspect_rollup" ("flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "run_id" INTEGER NOT NULL,
  "aspect_id" INTEGER NOT NULL, "judge_id" INTEGER NOT NULL, "n" INTEGER NOT NULL, "total" INTEGER NOT NULL, "squares"
  REAL NOT NULL, "top" INTEGER NOT NULL, "unscored" INTEGER NOT NULL, PRIMARY KEY ("flow_id", "agent_id", "run_id",
  "aspect_id", "judge_id"), FOREIGN KEY ("flow_id") REFERENCES "flow" ("id"), FOREIGN KEY ("agent_id") REFERENCES
  "agent" ("id"), FOREIGN KEY ("run_id") REFERENCES "run" ("id"), FOREIGN KEY ("aspect_id") REFERENCES "aspect"
  ("id"), FOREIGN KEY ("judge_id") REFERENCES "judge" ("id")) WITHOUT ROWID;
CREATE TABLE "aspect_score" ("conversation_id" INTEGER NOT NULL, "aspect_id" INTEGER NOT NULL, "judge_id" INTEGER NOT
  NULL, "value" REAL, PRIMARY KEY ("conversation_id", "aspect_id", "judge_id"), FOREIGN KEY ("conversation_id")
  REFERENCES "conversation" ("id") ON DELETE CASCADE, FOREIGN KEY ("aspect_id") REFERENCES "aspect" ("id"), FOREIGN
  KEY ("judge_id") REFERENCES "judge" ("id")) WITHOUT ROWID;
CREATE TABLE "aspect_total" ("flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "aspect_id" INTEGER NOT NULL,
  "judge_id" INTEGER NOT NULL, "n" INTEGER NOT NULL, "total" INTEGER NOT NULL, "squares" REAL NOT NULL, "top" INTEGER
  NOT NULL, "unscored" INTEGER NOT NULL, PRIMARY KEY ("flow_id", "agent_id", "aspect_id", "judge_id"), FOREIGN KEY
  ("flow_id") REFERENCES "flow" ("id"), FOREIGN KEY ("agent_id") REFERENCES "agent" ("id"), FOREIGN KEY ("aspect_id")
  REFERENCES "aspect" ("id"), FOREIGN KEY ("judge_id") REFERENCES "judge" ("id")) WITHOUT ROWID;
CREATE TABLE "call_rollup" ("flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "run_id" INTEGER NOT NULL, "n"
  INTEGER NOT NULL, "excluded" INTEGER NOT NULL, "first_at" INTEGER, PRIMARY KEY ("flow_id", "agent_id", "run_id"),
  FOREIGN KEY ("flow_id") REFERENCES "flow" ("id"), FOREIGN KEY ("agent_id") REFERENCES "agent" ("id"), FOREIGN KEY
  ("run_id") REFERENCES "run" ("id")) WITHOUT ROWID;
CREATE TABLE "conversation" ("id" INTEGER NOT NULL PRIMARY KEY, "run_id" INTEGER NOT NULL, "name" TEXT NOT NULL,
  "flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "persona_id" INTEGER, "scenario_id" INTEGER, "trial"
  INTEGER NOT NULL, "started_at" INTEGER, "duration_s" REAL, "completed" INTEGER, "stop_reason_id" INTEGER,
  "final_state_id" INTEGER, "final_status_id" INTEGER, "errored" INTEGER NOT NULL, "error" TEXT, "error_count" INTEGER
  NOT NULL, "defects" INTEGER NOT NULL, "origin" TEXT, "source_file_id" INTEGER NOT NULL, "line" INTEGER NOT NULL,
  FOREIGN KEY ("run_id") REFERENCES "run" ("id"), FOREIGN KEY ("flow_id") REFERENCES "flow" ("id"), FOREIGN KEY
  ("agent_id") REFERENCES "agent" ("id"), FOREIGN KEY ("persona_id") REFERENCES "persona" ("id"), FOREIGN KEY
  ("scenario_id") REFERENCES "scenario" ("id"), FOREIGN KEY ("stop_reason_id") REFERENCES "label" ("id"), FOREIGN KEY
  ("final_state_id") REFERENCES "label" ("id"), FOREIGN KEY ("final_status_id") REFERENCES "label" ("id"), FOREIGN KEY
  ("source_file_id") REFERENCES "source_file" ("id"));
CREATE TABLE "described_edge" ("from_state_id" INTEGER NOT NULL, "to_state_id" INTEGER NOT NULL, "source_file_id"
  INTEGER NOT NULL, PRIMARY KEY ("from_state_id", "to_state_id", "source_file_id"), FOREIGN KEY ("from_state_id")
  REFERENCES "state" ("id"), FOREIGN KEY ("to_state_id") REFERENCES "state" ("id"), FOREIGN KEY ("source_file_id")
  REFERENCES "source_file" ("id") ON DELETE CASCADE) WITHOUT ROWID;
CREATE TABLE "described_state" ("state_id" INTEGER NOT NULL, "source_file_id" INTEGER NOT NULL, "segment_id" INTEGER
  NOT NULL, "required_slots" TEXT NOT NULL, PRIMARY KEY ("state_id", "source_file_id"), FOREIGN KEY ("state_id")
  REFERENCES "state" ("id"), FOREIGN KEY ("source_file_id") REFERENCES "source_file" ("id") ON DELETE CASCADE, FOREIGN
  KEY ("segment_id") REFERENCES "segment" ("id")) WITHOUT ROWID;
CREATE TABLE "expected_step" ("conversation_id" INTEGER NOT NULL, "position" INTEGER NOT NULL, "state_id" INTEGER NOT
  NULL, "by" TEXT NOT NULL, "called" INTEGER NOT NULL, "matched" INTEGER, PRIMARY KEY ("conversation_id", "position"),
  FOREIGN KEY ("conversation_id") REFERENCES "conversation" ("id") ON DELETE CASCADE, FOREIGN KEY ("state_id")
  REFERENCES "state" ("id")) WITHOUT ROWID;
CREATE TABLE "flow" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL, "archetype" TEXT);
CREATE TABLE "flow_contract" ("flow_id" INTEGER NOT NULL, "source_file_id" INTEGER NOT NULL, "body" TEXT NOT NULL,
  PRIMARY KEY ("flow_id", "source_file_id"), FOREIGN KEY ("flow_id") REFERENCES "flow" ("id"), FOREIGN KEY
  ("source_file_id") REFERENCES "source_file" ("id") ON DELETE CASCADE) WITHOUT ROWID;
CREATE TABLE "judge" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL, "prompt_hash" TEXT NOT NULL);
CREATE TABLE "judged_score" ("source_file_id" INTEGER NOT NULL, "line" INTEGER NOT NULL, "run_id" INTEGER NOT NULL,
  "conversation_name" TEXT NOT NULL, "judge_id" INTEGER NOT NULL, "aspect_id" INTEGER NOT NULL, "score" REAL,
  "judged_at" INTEGER, "model" TEXT, "rationale" TEXT, PRIMARY KEY ("source_file_id", "line"), FOREIGN KEY
  ("source_file_id") REFERENCES "source_file" ("id") ON DELETE CASCADE, FOREIGN KEY ("run_id") REFERENCES "run"
  ("id"), FOREIGN KEY ("judge_id") REFERENCES "judge" ("id"), FOREIGN KEY ("aspect_id") REFERENCES "aspect" ("id"))
  WITHOUT ROWID;
CREATE TABLE "label" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL);
CREATE TABLE "persona" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL);
CREATE TABLE "run" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL, "label" TEXT, "commit" TEXT, "branch"
  TEXT);
CREATE TABLE "scenario" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL);
CREATE TABLE "segment" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL);
CREATE TABLE "skipped_input" ("id" INTEGER NOT NULL PRIMARY KEY, "source_file_id" INTEGER NOT NULL, "kind" TEXT NOT
  NULL, "line" INTEGER, "reason" TEXT NOT NULL, "run" TEXT, "conversation" TEXT, FOREIGN KEY ("source_file_id")
  REFERENCES "source_file" ("id") ON DELETE CASCADE);
CREATE TABLE "source_file" ("id" INTEGER NOT NULL PRIMARY KEY, "path" TEXT NOT NULL, "kind" TEXT NOT NULL, "sha256"
  TEXT NOT NULL, "size" INTEGER NOT NULL, "reader" INTEGER NOT NULL, "with_text" INTEGER NOT NULL, "context" TEXT NOT
  NULL, "conversations" INTEGER NOT NULL, "scores" INTEGER NOT NULL, "skipped" INTEGER NOT NULL);
CREATE TABLE "state" ("id" INTEGER NOT NULL PRIMARY KEY, "flow_id" INTEGER NOT NULL, "name" TEXT NOT NULL, "outcome"
  TEXT, FOREIGN KEY ("flow_id") REFERENCES "flow" ("id"));
CREATE TABLE "state_rollup" ("flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "run_id" INTEGER NOT NULL,
  "state_id" INTEGER NOT NULL, "segment_id" INTEGER NOT NULL, "n" INTEGER NOT NULL, "progress" INTEGER NOT NULL,
  "stall" INTEGER NOT NULL, "escalation" INTEGER NOT NULL, "revisit" INTEGER NOT NULL, "revisit_squares" REAL NOT
  NULL, "dwell" INTEGER NOT NULL, "dwell_squares" REAL NOT NULL, "latency_n" INTEGER NOT NULL, "latency" INTEGER NOT
  NULL, "latency_squares" REAL NOT NULL, "guard_error" INTEGER NOT NULL, "guard_error_squares" REAL NOT NULL, "slot_n"
  INTEGER NOT NULL, "slot" INTEGER NOT NULL, "slot_squares" REAL NOT NULL, PRIMARY KEY ("flow_id", "agent_id",
  "run_id", "state_id", "segment_id"), FOREIGN KEY ("flow_id") REFERENCES "flow" ("id"), FOREIGN KEY ("agent_id")
  REFERENCES "agent" ("id"), FOREIGN KEY ("run_id") REFERENCES "run" ("id"), FOREIGN KEY ("state_id") REFERENCES
  "state" ("id"), FOREIGN KEY ("segment_id") REFERENCES "segment" ("id")) WITHOUT ROWID;
CREATE TABLE "state_score" ("conversation_id" INTEGER NOT NULL, "state_id" INTEGER NOT NULL, "segment_id" INTEGER NOT
  NULL, "progress" INTEGER NOT NULL, "stall" INTEGER NOT NULL, "escalation" INTEGER NOT NULL, "revisit" INTEGER NOT
  NULL, "dwell_turns" REAL NOT NULL, "latency_p95_ms" REAL, "guard_error" INTEGER NOT NULL, "slot_fill_rate" REAL,
  PRIMARY KEY ("conversation_id", "state_id"), FOREIGN KEY ("conversation_id") REFERENCES "conversation" ("id") ON
  DELETE CASCADE, FOREIGN KEY ("state_id") REFERENCES "state" ("id"), FOREIGN KEY ("segment_id") REFERENCES "segment"
  ("id")) WITHOUT ROWID;
CREATE TABLE "state_total" ("flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "state_id" INTEGER NOT NULL,
  "segment_id" INTEGER NOT NULL, "n" INTEGER NOT NULL, "progress" INTEGER NOT NULL, "stall" INTEGER NOT NULL,
  "escalation" INTEGER NOT NULL, "revisit" INTEGER NOT NULL, "revisit_squares" REAL NOT NULL, "dwell" INTEGER NOT
  NULL, "dwell_squares" REAL NOT NULL, "latency_n" INTEGER NOT NULL, "latency" INTEGER NOT NULL, "latency_squares"
  REAL NOT NULL, "guard_error" INTEGER NOT NULL, "guard_error_squares" REAL NOT NULL, "slot_n" INTEGER NOT NULL,
  "slot" INTEGER NOT NULL, "slot_squares" REAL NOT NULL, PRIMARY KEY ("flow_id", "agent_id", "state_id",
  "segment_id"), FOREIGN KEY ("flow_id") REFERENCES "flow" ("id"), FOREIGN KEY ("agent_id") REFERENCES "agent" ("id"),
  FOREIGN KEY ("state_id") REFERENCES "state" ("id"), FOREIGN KEY ("segment_id") REFERENCES "segment" ("id")) WITHOUT
  ROWID;
CREATE TABLE "transcript" ("conversation_id" INTEGER NOT NULL PRIMARY KEY, "body" BLOB NOT NULL, FOREIGN KEY
  ("conversation_id") REFERENCES "conversation" ("id") ON DELETE CASCADE);
CREATE TABLE "transition" ("conversation_id" INTEGER NOT NULL, "from_state_id" INTEGER NOT NULL, "to_state_id" INTEGER
  NOT NULL, "n" INTEGER NOT NULL, PRIMARY KEY ("conversation_id", "from_state_id", "to_state_id"), FOREIGN KEY
  ("conversation_id") REFERENCES "conversation" ("id") ON DELETE CASCADE, FOREIGN KEY ("from_state_id") REFERENCES
  "state" ("id"), FOREIGN KEY ("to_state_id") REFERENCES "state" ("id")) WITHOUT ROWID;
CREATE TABLE "transition_rollup" ("flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "run_id" INTEGER NOT NULL,
  "from_state_id" INTEGER NOT NULL, "to_state_id" INTEGER NOT NULL, "n" INTEGER NOT NULL, PRIMARY KEY ("flow_id",
  "agent_id", "run_id", "from_state_id", "to_state_id"), FOREIGN KEY ("flow_id") REFERENCES "flow" ("id"), FOREIGN KEY
  ("agent_id") REFERENCES "agent" ("id"), FOREIGN KEY ("run_id") REFERENCES "run" ("id"), FOREIGN KEY
  ("from_state_id") REFERENCES "state" ("id"), FOREIGN KEY ("to_state_id") REFERENCES "state" ("id")) WITHOUT ROWID;
CREATE TABLE "transition_total" ("flow_id" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL, "from_state_id" INTEGER NOT
  NULL, "to_state_id" INTEGER NOT NULL, "n" INTEGER NOT NULL, PRIMARY KEY ("flow_id", "agent_id", "from_state_id",
  "to_state_id"), FOREIGN KEY ("flow_id") REFERENCES "flow" ("id"), FOREIGN KEY ("agent_id") REFERENCES "agent"
  ("id"), FOREIGN KEY ("from_state_id") REFERENCES "state" ("id"), FOREIGN KEY ("to_state_id") REFERENCES "state"
  ("id")) WITHOUT ROWID;
CREATE UNIQUE INDEX "agent_name" ON "agent" ("name");
CREATE UNIQUE INDEX "aspect_name" ON "aspect" ("name");
CREATE UNIQUE INDEX "run_name" ON "run" ("name");
CREATE UNIQUE INDEX "flow_name" ON "flow" ("name");
CREATE UNIQUE INDEX "judge_name_prompt_hash" ON "judge" ("name", "prompt_hash");
CREATE UNIQUE INDEX "persona_name" ON "persona" ("name");
CREATE UNIQUE INDEX "scenario_name" ON "scenario" ("name");
CREATE UNIQUE INDEX "label_name" ON "label" ("name");
CREATE UNIQUE INDEX "source_file_path" ON "source_file" ("path");
CREATE INDEX "conversation_source_file_id" ON "conversation" ("source_file_id");
CREATE UNIQUE INDEX "conversation_run_id_name" ON "conversation" ("run_id", "name");
CREATE INDEX "conversation_flow_id_agent_id_run_id" ON "conversation" ("flow_id", "agent_id", "run_id");
CREATE UNIQUE INDEX "state_flow_id_name" ON "state" ("flow_id", "name");
CREATE INDEX "described_edge_source_file_id" ON "described_edge" ("source_file_id");
CREATE UNIQUE INDEX "segment_name" ON "segment" ("name");
CREATE INDEX "described_state_source_file_id" ON "described_state" ("source_file_id");
CREATE INDEX "flow_contract_source_file_id" ON "flow_contract" ("source_file_id");
CREATE INDEX "judged_score_run_id_conversation_name" ON "judged_score" ("run_id", "conversation_name");
CREATE INDEX "skipped_input_source_file_id" ON "skipped_input" ("source_file_id")
"""

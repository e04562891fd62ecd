"""Name what tests use of riff_runner, so that its modules can be moved by changing this page alone."""

from __future__ import annotations

from riff_runner import simulate as riff_runner_simulate
from riff_runner.chat.answers import AnswerReader, NotAnAnswer, ReadAnswer, SpokenText, ToldError, is_written_out
from riff_runner.chat.client import ChatClient
from riff_runner.chat.endpoint import LARGEST_BODY, Endpoint, retry_after
from riff_runner.chat.http_client import environment_proxy
from riff_runner.chat.protocol import (
    ChatReply,
    ChatToolCall,
    ChatUsage,
    ContextFull,
    EndpointDown,
    EndpointGone,
    Message,
    NoSuchModel,
    RequestWrong,
    Tool,
)
from riff_runner.chat.retries import GOOD_ANSWERS, Pace, pace_of
from riff_runner.chat.retries import RetryPolicy as RetriesRetryPolicy
from riff_runner.judge import ledger, session
from riff_runner.judge.command import CommandJudge
from riff_runner.judge.conversations import decided, find_conversations, read_conversations
from riff_runner.judge.evidence import (
    LONGEST_BLOCK,
    LONGEST_TURN,
    Evidence,
    can_be_judged,
    evidence_of,
    visible,
    without_brackets,
)
from riff_runner.judge.ledger import Ledger, Unkeepable
from riff_runner.judge.openai import OpenAIJudge
from riff_runner.judge.protocol import (
    Answer,
    ConversationName,
    JudgePrompt,
    Misconfigured,
    Question,
    Refused,
    Rubric,
    Signature,
    Unanswered,
    Usage,
)
from riff_runner.judge.replay import ReplayJudge
from riff_runner.judge.retry import (
    LONGEST_ANSWER,
    LONGEST_REASON,
    CallToJudge,
    JudgeVerdict,
    JudgingOutcome,
    Malformed,
    Retry,
    parse,
)
from riff_runner.judge.retry import RetryPolicy as RetryRetryPolicy
from riff_runner.judge.session import MOST_IN_A_ROW, RunEnd, Runner, RunProgress
from riff_runner.judge.settings import PRESETS, Prices, judge_settings
from riff_runner.processes import process
from riff_runner.processes.child_process import environment_of, without_secrets
from riff_runner.processes.process import (
    LARGEST_LINE,
    STDERR_KEPT,
    BadLine,
    CannotStart,
    LineBuffer,
    LineProcess,
    ProcessFailed,
    Program,
    decoded,
    encoded,
)
from riff_runner.processes.reaper import Reaper
from riff_runner.processes.wire import Wire
from riff_runner.protocol import (
    Agent,
    AgentReply,
    AgentStopped,
    CallerFailed,
    CallerNotes,
    CallerTurn,
    CallLimits,
    CallRefused,
    CallView,
    EndpointRefused,
    StopReason,
    Unavailable,
)
from riff_runner.run import runs as run_runs
from riff_runner.run.agent_call import LARGEST_RESULT, AgentCall, CallProgress, CallStatus
from riff_runner.run.agents.command import MOST_MESSAGES as COMMAND_MOST_MESSAGES
from riff_runner.run.agents.command import CommandAgent, CommandSession, CommandTools, Speech
from riff_runner.run.agents.model import ModelAgent
from riff_runner.run.agents.python import as_agent
from riff_runner.run.call import Call, CallSetting, MadeCall, spoken_numbers
from riff_runner.run.callers.agenda import touchable
from riff_runner.run.callers.command import MOST_MESSAGES as CALLER_MOST_MESSAGES
from riff_runner.run.callers.command import CommandCaller
from riff_runner.run.callers.frozen import FrozenCaller, refuse_unrecorded
from riff_runner.run.callers.model import END_CALL, ModelCaller, system_prompt, turn_of
from riff_runner.run.callers.scripted import ScriptedCaller
from riff_runner.run.cases.case import CallCase
from riff_runner.run.cases.case_file import (
    CASE_SCHEMA,
    CaseFact,
    CaseFailure,
    CaseFile,
    CaseLine,
    CaseOrigin,
    case_text,
    is_case_file,
    read_case,
)
from riff_runner.run.cases.plan import plan_cases
from riff_runner.run.clock import FixedClock, RunClock, SystemClock, speaking_s
from riff_runner.run.files import progress_file
from riff_runner.run.files.progress_file import ProgressFile, ProgressLine
from riff_runner.run.files.run_document import (
    Invocation,
    RunDocument,
    RunFlowFile,
    RunSettings,
    RunSide,
    read_run,
    write_run,
)
from riff_runner.run.files.run_files import RunFiles, transcript_name
from riff_runner.run.flows.check import CheckedFile, Finding, check_flow_file
from riff_runner.run.flows.flow import (
    FlowEdge,
    FlowState,
    RunnableFlow,
    RunScenario,
    ScriptedLine,
    SpokenFact,
    StubbedTool,
    astray,
)
from riff_runner.run.flows.flow_files import load_flow as flow_files_load_flow
from riff_runner.run.flows.flow_files import load_flows
from riff_runner.run.library import FlowChoice
from riff_runner.run.prices import Cost, SpentTokens, model_prices, total_cost
from riff_runner.run.run_plan import RunRequest, plan_run
from riff_runner.run.run_tally import RunTally
from riff_runner.run.runs import RunHooks, make_run
from riff_runner.run.status.run_reader import RunReader
from riff_runner.run.status.run_status import CallCounts, RunStatus, WatchedCall
from riff_runner.run.status.tallies import CallPlace, FinishedCall, finished_call
from riff_runner.run.targets import (
    PartOptions,
    Target,
    import_object,
    make_agent,
    make_caller,
    make_tools,
    parse_target,
)
from riff_runner.run.tools import StubbedTools, ToolFailed, ToolSession, violation
from riff_runner.simulate.call import SimulatedCall
from riff_runner.simulate.case import route, stage_of, weak_points
from riff_runner.simulate.cast import Override, SimulatedRun, agents, personas
from riff_runner.simulate.cast import runs as cast_runs
from riff_runner.simulate.flow_file import flow_names, planted, read_flow
from riff_runner.simulate.flow_file import load_flow as flow_file_load_flow
from riff_runner.simulate.lexicon import phrases, pools
from riff_runner.simulate.machine import Machine, NoSuchTransition
from riff_runner.simulate.suite import DEFAULT_CONVERSATIONS, Suite, custom_run, plan, weakened
from riff_runner.simulate.suite import simulate as simulate_simulate

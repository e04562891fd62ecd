"""Who plays a part is named in one option, and what is wrong with it is said with an example of what is right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.surface.runner import (
    CommandAgent,
    CommandCaller,
    CommandTools,
    FrozenCaller,
    PartOptions,
    ScriptedCaller,
    StubbedTools,
    Target,
    make_agent,
    make_caller,
    make_tools,
    parse_target,
)
from tests.surface.store import UsageError


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("openai:gpt-5-mini@https://host/v1", Target("openai", model="gpt-5-mini", url="https://host/v1")),
        ("openai:team/m@v2@http://[::1]:8000/v1/", Target("openai", model="team/m@v2", url="http://[::1]:8000/v1")),
        (" command:./agent.sh --fast 'two words' ", Target("command", command=("./agent.sh", "--fast", "two words"))),
        ("python:my.agents:Agent.quick", Target("python", module="my.agents", attribute="Agent.quick")),
        ("python:agents/mine.py:reply", Target("python", module="agents/mine.py", attribute="reply")),
    ],
)
def test_an_agent_is_a_model_a_command_or_an_object_of_python(text: str, target: Target) -> None:
    assert parse_target(text, "agent") == target


def test_callers_and_tools_have_forms_of_their_own() -> None:
    assert parse_target("scripted", "caller") == Target("scripted")
    assert parse_target("frozen", "caller") == Target("frozen")
    assert parse_target("command:caller", "caller").command == ("caller",)
    assert parse_target("stubbed", "tools") == Target("stubbed")
    assert parse_target("command:tools", "tools").command == ("tools",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gpt-5-mini", "--agent: 'gpt-5-mini' is an unknown form of target; give one of openai:MODEL@URL, such"),
        ("scripted", "'scripted' is an unknown form"),
        ("openai", "'openai' is an unknown form"),
        ("", "'' is an unknown form"),
        ("openai:gpt-5-mini", "with @ between them; write openai:MODEL@URL, such as openai:gpt-5-mini@https://host/v1"),
        ("openai:@https://host/v1", "it takes a model"),
        ("openai:m@https:///v1", "not the address of an endpoint"),
        ("openai:m@https://host:port/v1", "not the address of an endpoint"),
        ("openai:m@https://host/v 1", "not the address of an endpoint"),
        ("openai:m@ftp://host/v1", "it takes a model and the address"),
        ("openai:m@https://host/v1?key=s3cret", "a key comes from a variable"),
        ("command:", "there is no command; write command:CMD, such as 'command:./my_agent.sh --fast'"),
        ("command:say 'hello", "cannot be taken apart (no closing quotation)"),
        ("python:my_agent", "it takes a module"),
        ("python:my_agent:not a name", "it takes a module"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_does(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_target(text, "agent")
    assert said in str(refused.value)


@pytest.mark.parametrize("text", ["openai:m@https://s3cret@host/v1", "openai:m@https://u:s3cret@host", "opnai:s3cret"])
def test_no_message_repeats_what_may_be_a_key(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_target(text, "agent")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("text", ["scripted:x", "python:m:n", "stubbed"])
def test_a_caller_has_no_other_forms(text: str) -> None:
    with pytest.raises(UsageError, match="scripted; frozen; openai:MODEL@URL"):
        parse_target(text, "caller")


def test_what_was_named_is_made() -> None:
    options = PartOptions(name="acme")
    assert isinstance(make_agent(parse_target("command:./mine.sh", "agent"), options), CommandAgent)
    assert make_agent(parse_target("command:./mine.sh", "agent"), options).name == "acme"
    assert make_agent(parse_target("command:./mine.sh", "agent"), PartOptions()).name == "mine.sh"
    assert make_agent(parse_target("python:tests.support.toy_calls:walks", "agent"), PartOptions()).name == "walks"
    assert isinstance(make_caller(parse_target("scripted", "caller"), options), ScriptedCaller)
    assert isinstance(make_caller(parse_target("frozen", "caller"), options), FrozenCaller)
    assert isinstance(make_caller(parse_target("command:./caller", "caller"), options), CommandCaller)
    assert isinstance(make_tools(parse_target("stubbed", "tools"), options), StubbedTools)
    assert isinstance(make_tools(parse_target("command:./tools", "tools"), options), CommandTools)


def test_a_variable_that_a_program_should_see_has_to_be_set() -> None:
    for part, make in (("agent", make_agent), ("caller", make_caller), ("tools", make_tools)):
        with pytest.raises(UsageError, match=f"--{part}-env: there is no variable 'KEY_OF_MINE'"):
            make(Target("command", command=("x",)), PartOptions(env=("KEY_OF_MINE",), environ={}))


def test_a_model_is_made_with_the_key_that_its_variable_holds() -> None:
    pytest.importorskip("aiohttp")
    target = parse_target("openai:gpt-5-mini@https://host.example/v1", "agent")
    options = PartOptions(key_env="KEY_OF_MINE", environ={"KEY_OF_MINE": "s3cret"})
    assert make_agent(target, options).name == "gpt-5-mini"
    assert make_agent(target, replace(options, name="mine")).name == "mine"
    assert make_caller(target, replace(options, name="mine")).name == "gpt-5-mini"
    for part, make in (("agent", make_agent), ("caller", make_caller)):
        with pytest.raises(UsageError, match=f"--{part}-key-env: there is no key in ") as refused:
            make(target, replace(options, environ={"KEY_OF_MINE": ""}))
        assert "KEY_OF_MINE" in str(refused.value)
    with pytest.raises(UsageError, match="has to be https"):
        make_caller(parse_target("openai:m@http://host.example/v1", "caller"), options)

"""What a process that reads documents may not do."""

from tests.prove.guard import Guard

GUARDS = (
    Guard(
        "Landlock",
        "indexer/extract/isolation/sandbox.py",
        "_succeed(_LIBC.syscall(_RESTRICT_SELF, rules, 0))",
        "pass",
        "tests/integration/test_sandbox.py::test_files_of_others_are_shut",
    ),
    Guard(
        "signals stay inside",
        "indexer/extract/isolation/sandbox.py",
        "if version >= _SCOPE_SINCE else 0",
        "if False else 0",
        "tests/integration/test_sandbox.py::test_the_worker_cannot_be_signalled",
    ),
    Guard(
        "shut system calls",
        "indexer/extract/isolation/syscalls.py",
        'then="refuse") for number in numbers',
        'then="allow") for number in numbers',
        "tests/integration/test_sandbox.py::test_a_shut_call_is_refused",
    ),
    Guard(
        "no network",
        "indexer/extract/isolation/sandbox.py",
        "tcp = _BIND_AND_CONNECT if version >= _TCP_SINCE else 0",
        "tcp = 0",
        "tests/integration/test_sandbox.py::test_a_socket_from_before_connects_nowhere",
    ),
    Guard(
        "root is nobody",
        "indexer/extract/isolation/sandbox.py",
        "    _give_up_capabilities()\n    if version",
        "    if version",
        "tests/integration/test_sandbox.py::test_root_is_nobody_in_the_sandbox",
    ),
    Guard(
        "no other process",
        "indexer/extract/isolation/syscalls.py",
        'otherwise="allow" if forks else "refuse"',
        'otherwise="allow"',
        "tests/integration/test_sandbox.py::test_where_no_pictures_are_read_there_is_no_other_process",
    ),
    Guard(
        "no other process, by old calls",
        "indexer/extract/isolation/syscalls.py",
        "*(() if forks else _FORKS)",
        "*()",
        "tests/integration/test_sandbox.py::test_the_old_calls_that_fork_are_refused_as_well",
    ),
    Guard(
        "flags in memory",
        "indexer/extract/isolation/syscalls.py",
        '            _Step(_EQUAL, _CLONE3[column], then="missing"),\n',
        "",
        "tests/integration/test_sandbox.py::test_there_are_no_namespaces_and_no_siblings",
    ),
    Guard(
        "no namespaces",
        "indexer/extract/isolation/syscalls.py",
        '            _Step(_ANY_BIT, _SHUT_FLAGS, then="refuse"),\n',
        "",
        "tests/integration/test_sandbox.py::test_there_are_no_namespaces_and_no_siblings",
    ),
    Guard(
        "second table of calls",
        "indexer/extract/isolation/syscalls.py",
        '            _Step(_AT_LEAST, _X32, then="refuse"),\n',
        "",
        "tests/integration/test_sandbox.py::test_the_second_table_of_calls_is_refused",
    ),
    Guard(
        "calls of another architecture",
        "indexer/extract/isolation/syscalls.py",
        '_Step(_EQUAL, _AUDIT[architecture], otherwise="refuse")',
        "_Step(_EQUAL, _AUDIT[architecture])",
        "tests/integration/test_sandbox.py::test_the_calls_of_another_architecture_are_refused",
    ),
    Guard(
        "bounds of others",
        "indexer/extract/isolation/syscalls.py",
        '            _Step(_EQUAL, _PRLIMIT[column], then="prlimit"),\n',
        "",
        "tests/integration/test_sandbox.py::test_the_worker_keeps_its_limits_and_priority",
    ),
    Guard(
        "signals to groups",
        "indexer/extract/isolation/syscalls.py",
        '            _Step(_EQUAL, 0, then="refuse"),\n',
        "",
        "tests/integration/test_sandbox.py::test_nobody_signals_in_general",
    ),
    Guard(
        "signals to everybody",
        "indexer/extract/isolation/syscalls.py",
        '            _Step(_AT_LEAST, _NEGATIVE, then="refuse"),\n',
        "",
        "tests/integration/test_sandbox.py::test_nobody_signals_in_general",
    ),
)

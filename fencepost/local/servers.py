"""The servers of one machine, in one data folder that only one process may use at a time."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from fencepost.local import folder, leftovers
from fencepost.local.opensearch import LocalOpenSearch
from fencepost.local.postgres import LocalPostgres
from fencepost.local.server import LocalServer
from fencepost.local.valkey import LocalValkey


class LocalServers:
    """PostgreSQL and Valkey below `data`. A server whose address is given runs elsewhere and is not started.

    `with LocalServers(data) as servers:` gives `servers.database_url` and `servers.broker_url`. An `opensearch` is
    started and stopped with them.
    """

    def __init__(
        self, data: Path, *, database_url: str = "", broker_url: str = "", opensearch: LocalOpenSearch | None = None
    ) -> None:
        self.data = data
        self.postgres = None if database_url else LocalPostgres(data)
        self.valkey = None if broker_url else LocalValkey(data)
        self.opensearch = opensearch
        self._database_url = database_url
        self._broker_url = broker_url
        self._parts = ExitStack()

    @property
    def database_url(self) -> str:
        """The address of the database, with its password."""
        return self.postgres.url if self.postgres else self._database_url

    @property
    def broker_url(self) -> str:
        """The address of the broker, with its password."""
        return self.valkey.url if self.valkey else self._broker_url

    @property
    def started(self) -> list[LocalServer]:
        """The servers that run here."""
        return [server for server in (self.postgres, self.valkey, self.opensearch) if server]

    def start(self) -> Self:
        """Takes the folder, ends what a killed run left there, and starts the servers. Raises StartError."""
        with ExitStack() as parts:
            parts.enter_context(folder.held(self.data))
            leftovers.end_all(self.data)
            for server in self.started:
                parts.enter_context(server)
            self._parts = parts.pop_all()
        return self

    def stop(self) -> None:
        """Stops the servers and lets go of the folder."""
        self._parts.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

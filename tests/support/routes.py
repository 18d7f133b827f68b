"""Every route of the application, with the scope that it says it needs."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from sqlalchemy import create_engine
from starlette.routing import BaseRoute

from fencepost.http.app import create_app
from pipeline.requests import Needs
from pipeline.settings import Settings


class Declared(NamedTuple):
    """One method of one path; `needs` None: it says nothing."""

    method: str
    path: str
    needs: Needs | None

    @property
    def name(self) -> str:
        """As docs/keys.md writes it."""
        return f"{self.method} {self.path}"


def served(app: FastAPI) -> list[APIRoute]:
    """The routes themselves; raises AssertionError for one that is not of FastAPI."""
    found = []
    for route in _flat(app.routes):
        assert isinstance(route, APIRoute), f"{route} is no route that can declare a scope"
        found.append(route)
    return found


def of(app: FastAPI) -> list[Declared]:
    """All of them, by path."""
    found = []
    for route in served(app):
        stated = [call for call in _calls(route.dependant) if isinstance(call, Needs)]
        assert len(stated) <= 1, f"{route.path} declares more than one scope"
        found += [Declared(method, route.path, next(iter(stated), None)) for method in route.methods]
    return sorted(found, key=lambda declared: (declared.path, declared.method))


def _flat(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    for route in routes:
        inner = getattr(route, "original_router", None)  # newer releases of FastAPI keep included routers as they are
        if inner is None:
            yield route
        else:
            yield from _flat(inner.routes)


def _calls(dependant: Dependant) -> Iterator[object]:
    for inner in dependant.dependencies:
        yield inner.call
        yield from _calls(inner)


_app = create_app(Settings(), engine=create_engine("postgresql+psycopg://nobody@localhost/nothing"))
ALL, SERVED = of(_app), served(_app)
"""Those of the real application."""

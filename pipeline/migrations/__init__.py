"""The schema, as Alembic migrations whose SQL stands in files beside them."""

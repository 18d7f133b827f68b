-- Run once, by the image of PostgreSQL, when the volume is still empty.
-- The application is an ordinary role that owns its database. The superuser keeps no password, so nobody can be it over
-- the network; `docker compose exec postgres psql` still can.
\getenv password POSTGRES_PASSWORD
CREATE ROLE fencepost LOGIN PASSWORD :'password';
CREATE DATABASE fencepost OWNER fencepost;
REVOKE ALL ON DATABASE fencepost FROM PUBLIC;
ALTER ROLE postgres PASSWORD NULL;

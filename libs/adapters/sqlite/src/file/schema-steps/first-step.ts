// What the first release created.

export const firstStep = `
  CREATE TABLE thread_numbers (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    UNIQUE (tenant, thread)
  ) STRICT;

  CREATE TABLE commits (
    id INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    count INTEGER NOT NULL,
    inputs TEXT NOT NULL,
    at INTEGER NOT NULL,
    nonce TEXT NOT NULL,
    trace TEXT,
    kid TEXT,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX commits_by_version ON commits (number, version);

  CREATE TABLE inputs (
    number INTEGER NOT NULL,
    input TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (number, input)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE owed (
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (number, version)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE ledger (
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    subject TEXT NOT NULL,
    nonce TEXT,
    claimed_at INTEGER,
    outcome TEXT,
    detail TEXT,
    PRIMARY KEY (tenant, thread, subject)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE attempts (
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    tool_call TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status ANY NOT NULL,
    duration_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread, tool_call, number, at)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE timers (
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    timer TEXT NOT NULL,
    due INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread, timer)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX timers_by_due ON timers (due);

  CREATE TABLE snapshots (
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    version INTEGER NOT NULL,
    shape INTEGER NOT NULL,
    state TEXT NOT NULL,
    UNIQUE (tenant, thread)
  ) STRICT;

  CREATE TABLE threads (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    status TEXT NOT NULL,
    agent TEXT NOT NULL,
    agent_version INTEGER NOT NULL,
    parent TEXT,
    family TEXT NOT NULL,
    user_id TEXT,
    external_id TEXT,
    title TEXT,
    metadata TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    position INTEGER NOT NULL,
    opening TEXT,
    UNIQUE (tenant, thread)
  ) STRICT;
  CREATE UNIQUE INDEX threads_by_external_id ON threads (tenant, external_id) WHERE external_id IS NOT NULL;
  CREATE INDEX threads_newest ON threads (tenant, created_at, thread);
  CREATE INDEX threads_by_status ON threads (tenant, status, created_at, thread);
  CREATE INDEX threads_by_agent ON threads (tenant, agent, created_at, thread);
  CREATE INDEX threads_by_parent ON threads (tenant, parent, created_at, thread) WHERE parent IS NOT NULL;
  CREATE INDEX threads_by_user ON threads (tenant, user_id, created_at, thread) WHERE user_id IS NOT NULL;
  CREATE INDEX threads_opening ON threads (created_at) WHERE status = 'opening';
  CREATE INDEX threads_using_agent ON threads (tenant, agent) WHERE status <> 'closed';

  CREATE TABLE thread_metadata (
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    thread TEXT NOT NULL,
    PRIMARY KEY (tenant, key, value, created_at, thread)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE idempotency (
    tenant TEXT NOT NULL,
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    body_sha256 TEXT NOT NULL,
    claimed_at INTEGER NOT NULL,
    status INTEGER,
    body TEXT,
    PRIMARY KEY (tenant, route, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_by_age ON idempotency (claimed_at);

  CREATE TABLE blobs (
    tenant TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    media_type TEXT NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (tenant, sha256)
  ) STRICT;

  CREATE TABLE agents (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (tenant, name, version)
  ) STRICT;
  CREATE INDEX agents_by_id ON agents (tenant, agent_id, version);

  CREATE TABLE tool_servers (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    server_id TEXT NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (tenant, name),
    UNIQUE (tenant, server_id)
  ) STRICT;

  CREATE TABLE toolsets (
    tenant TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    manifest TEXT NOT NULL,
    UNIQUE (tenant, sha256)
  ) STRICT;

  CREATE TABLE toolsets_last_good (
    tenant TEXT NOT NULL,
    tool_server TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (tenant, tool_server)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE secrets (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (tenant, name)
  ) STRICT;

  CREATE TABLE api_keys (
    key_sha256 TEXT NOT NULL UNIQUE,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    document TEXT NOT NULL
  ) STRICT;
`;

// Steps of what tenants are, may do and have asked for.

export const revokedTokens = `
  CREATE TABLE revoked_tokens (
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (id, tenant, thread)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX revoked_tokens_by_expiry ON revoked_tokens (expires_at);
`;

/** Who did what. Rows are never changed: each holds the hash of the one before. */
export const audit = `
  CREATE TABLE audit (
    tenant TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT,
    client TEXT,
    outcome TEXT NOT NULL,
    request_id TEXT,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (tenant, seq)
  ) STRICT, WITHOUT ROWID;
`;

/** Tenants, the threads of those that may not go on, and a census that counts threads that are deleted. */
export const tenants = `
  CREATE TABLE tenants (
    id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    document TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tenants_by_state ON tenants (state) WHERE state = 'deleting';

  CREATE TABLE held_threads (
    mark INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    UNIQUE (tenant, thread)
  ) STRICT;

  CREATE TRIGGER threads_counted_no_more AFTER DELETE ON threads BEGIN
    UPDATE thread_counts SET threads = threads - 1 WHERE status = OLD.status;
  END;
`;

/** What tenants have used, and how many threads and subscriptions they have open. */
export const tenantLimits = `
  CREATE TABLE tenant_tallies (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    reporter TEXT NOT NULL,
    amount INTEGER NOT NULL,
    until INTEGER,
    PRIMARY KEY (tenant, name, reporter)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tenant_tallies_by_end ON tenant_tallies (until) WHERE until IS NOT NULL;

  CREATE TABLE tenant_threads (
    tenant TEXT PRIMARY KEY,
    open INTEGER NOT NULL,
    subscriptions INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO tenant_threads SELECT tenant, count(*) FILTER (WHERE status <> 'closed'),
    ifnull(sum(subscriptions) FILTER (WHERE status <> 'closed'), 0) FROM threads GROUP BY tenant;
  CREATE TRIGGER tenant_threads_at_first AFTER INSERT ON threads WHEN NEW.status <> 'closed' BEGIN
    INSERT INTO tenant_threads VALUES (NEW.tenant, 1, NEW.subscriptions)
      ON CONFLICT DO UPDATE SET open = open + 1, subscriptions = subscriptions + NEW.subscriptions;
  END;
  CREATE TRIGGER tenant_threads_again AFTER UPDATE OF status, subscriptions ON threads
    WHEN NEW.subscriptions <> OLD.subscriptions OR (NEW.status = 'closed') <> (OLD.status = 'closed') BEGIN
    UPDATE tenant_threads SET open = open + (OLD.status = 'closed') - (NEW.status = 'closed'), subscriptions = subscriptions
      + iif(NEW.status = 'closed', 0, NEW.subscriptions) - iif(OLD.status = 'closed', 0, OLD.subscriptions)
      WHERE tenant = NEW.tenant;
  END;
  CREATE TRIGGER tenant_threads_no_more AFTER DELETE ON threads WHEN OLD.status <> 'closed' BEGIN
    UPDATE tenant_threads SET open = open - 1, subscriptions = subscriptions - OLD.subscriptions WHERE tenant = OLD.tenant;
  END;
`;

/** Credentials of end users for tool servers, sealed. */
export const userCredentials = `
  CREATE TABLE user_credentials (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    tool_server TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (tenant, user_id, tool_server)
  ) STRICT, WITHOUT ROWID;
`;

/** What threads are held by, a mark for each reason; and agents that are paused. */
export const pauses = `
  ALTER TABLE held_threads RENAME TO held_by_tenants;
  CREATE TABLE held_threads (
    mark INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    held_by TEXT NOT NULL,
    thread TEXT NOT NULL,
    UNIQUE (tenant, held_by, thread)
  ) STRICT;
  INSERT INTO held_threads SELECT mark, tenant, 'tenant', thread FROM held_by_tenants;
  DROP TABLE held_by_tenants;

  CREATE TABLE paused_agents (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
  ) STRICT, WITHOUT ROWID;
`;

/** What was erased, or is being erased. */
export const erasures = `
  CREATE TABLE erasures (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    is_running INTEGER NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (tenant, id)
  ) STRICT;
  CREATE INDEX erasures_newest ON erasures (tenant, requested_at, id);
  CREATE INDEX erasures_running ON erasures (requested_at, id) WHERE is_running = 1;
`;

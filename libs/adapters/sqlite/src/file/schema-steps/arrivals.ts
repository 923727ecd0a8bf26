// Steps of what comes from outside and goes there: webhooks, sources, schedules.

/** Endpoints of customers, what they are told, and how far the log was read for them. */
export const webhooks = `
  CREATE TABLE webhooks (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE deliveries (
    tenant TEXT NOT NULL,
    webhook TEXT NOT NULL,
    id TEXT NOT NULL,
    event TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempts TEXT NOT NULL,
    tries INTEGER NOT NULL,
    next_at INTEGER,
    PRIMARY KEY (tenant, webhook, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX deliveries_by_due ON deliveries (tenant, webhook, next_at) WHERE state = 'pending';
  CREATE INDEX deliveries_by_age ON deliveries (created_at);

  CREATE TABLE webhook_readers (
    tenant TEXT PRIMARY KEY,
    place TEXT NOT NULL,
    changes INTEGER NOT NULL,
    holder TEXT,
    held_until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

/** What others may send to a tenant, its schedules, and which thread each delivery belongs to. */
export const arrivals = `
  CREATE TABLE sources (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    source_id TEXT NOT NULL,
    token_sha256 TEXT NOT NULL UNIQUE,
    document TEXT NOT NULL,
    UNIQUE (tenant, name),
    UNIQUE (tenant, source_id)
  ) STRICT;

  CREATE TABLE source_deliveries (
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (id, tenant)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE schedules (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    schedule_id TEXT NOT NULL,
    look_at INTEGER,
    document TEXT NOT NULL,
    UNIQUE (tenant, name),
    UNIQUE (tenant, schedule_id)
  ) STRICT;
  CREATE INDEX schedules_by_look ON schedules (look_at) WHERE look_at IS NOT NULL;
`;

/** Claims of deliveries are deleted by their age. */
export const claimsByAge = `
  CREATE INDEX source_deliveries_by_age ON source_deliveries (at);
`;

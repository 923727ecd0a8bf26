// The shape of `dormouse.db` and its version. This file holds every statement that creates something, and nothing else.
//
// Invariants:
//   S1. `user_version` counts the steps applied; a database with more steps than this release knows is refused.
//   S2. A step is never edited after a release: a change of shape is a new step at the end.
//   S3. The log is `commits`, in order of arrival: kept by thread, every commit would touch a page of its own, twice
//       the bytes to sync. Races are decided by unique keys: a version of a thread, an input of a thread, a thread's
//       number.
//   S4. Tables are STRICT: what was declared is what is stored, so a row may be read by its declared type.
//   S5. What every turn adds to is keyed by the id first: ids begin with their time, so the threads of one transaction
//       meet on a few pages. Keyed by the thread first, each row would dirty a page of its own.

/** 'DMSE': distinguishes Dormouse's files from others. */
export const applicationId = 0x44_4d_53_45;

const firstStep = `
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

const parkedThreads = `
  CREATE TABLE parked_threads (
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    mark TEXT NOT NULL,
    reason TEXT NOT NULL,
    parked_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE parked_inputs (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    input_id TEXT NOT NULL,
    input TEXT NOT NULL,
    trace TEXT,
    dropped_at INTEGER,
    UNIQUE (tenant, thread, input_id)
  ) STRICT;
`;

const viewsAndLogins = `
  CREATE TABLE views (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    view_type TEXT NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (tenant, thread, view_type)
  ) STRICT;

  CREATE TABLE logins (
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    tool_call TEXT NOT NULL,
    sealed TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread, tool_call)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX logins_by_expiry ON logins (expires_at);
`;

/** The same rows, sorted by their ids. (S5) */
const idsFirst = `
  ALTER TABLE inputs RENAME TO inputs_by_thread;
  CREATE TABLE inputs (
    input TEXT NOT NULL,
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (input, number)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO inputs SELECT input, number, version FROM inputs_by_thread ORDER BY input, number;
  DROP TABLE inputs_by_thread;

  ALTER TABLE ledger RENAME TO ledger_by_thread;
  CREATE TABLE ledger (
    subject TEXT NOT NULL,
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    nonce TEXT,
    claimed_at INTEGER,
    outcome TEXT,
    detail TEXT,
    PRIMARY KEY (subject, tenant, thread)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO ledger SELECT subject, tenant, thread, nonce, claimed_at, outcome, detail FROM ledger_by_thread
    ORDER BY subject, tenant, thread;
  DROP TABLE ledger_by_thread;

  ALTER TABLE attempts RENAME TO attempts_by_thread;
  CREATE TABLE attempts (
    tool_call TEXT NOT NULL,
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status ANY NOT NULL,
    duration_ms INTEGER NOT NULL,
    PRIMARY KEY (tool_call, tenant, thread, number, at)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO attempts SELECT tool_call, tenant, thread, number, at, status, duration_ms FROM attempts_by_thread
    ORDER BY tool_call, tenant, thread, number, at;
  DROP TABLE attempts_by_thread;
`;

/** Replaced by `uniqueVersions`. */
const placesBehind = `
  CREATE TABLE places (
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (number, version)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO places SELECT number, version, id FROM commits ORDER BY number, version;
  CREATE TABLE placed (upto INTEGER NOT NULL) STRICT;
  INSERT INTO placed SELECT ifnull(max(id), 0) FROM commits;
  DROP INDEX commits_by_version;
`;

/** Replaced by `uniqueVersions`: the release of this step left the inputs of the newest commits out of `inputs`. */
const inputsBehind = `
  INSERT INTO places SELECT number, version, id FROM commits WHERE id > (SELECT upto FROM placed) ORDER BY number, version;
  UPDATE placed SET upto = (SELECT ifnull(max(id), 0) FROM commits);
`;

/** Claims the inputs that were left out, and makes a version of a thread unique again. (S3) */
const uniqueVersions = `
  INSERT OR IGNORE INTO inputs (input, number, version) SELECT each.value, number, version
    FROM commits, json_each(commits.inputs) AS each WHERE commits.id > (SELECT upto FROM placed)
    ORDER BY each.value, number;
  CREATE UNIQUE INDEX commits_by_version ON commits (number, version);
  DROP TABLE places;
  DROP TABLE placed;
`;

/** Kept for the census: how many threads have a status, since when a thread waits, and its subscriptions. */
const census = `
  CREATE TABLE thread_counts (
    status TEXT PRIMARY KEY,
    threads INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO thread_counts SELECT status, count(*) FROM threads GROUP BY status;
  CREATE TRIGGER threads_counted_at_first AFTER INSERT ON threads BEGIN
    INSERT INTO thread_counts VALUES (NEW.status, 1) ON CONFLICT DO UPDATE SET threads = threads + 1;
  END;
  CREATE TRIGGER threads_counted_again AFTER UPDATE OF status ON threads WHEN NEW.status <> OLD.status BEGIN
    UPDATE thread_counts SET threads = threads - 1 WHERE status = OLD.status;
    INSERT INTO thread_counts VALUES (NEW.status, 1) ON CONFLICT DO UPDATE SET threads = threads + 1;
  END;

  ALTER TABLE threads ADD COLUMN since_tool_call INTEGER;
  ALTER TABLE threads ADD COLUMN since_approval INTEGER;
  ALTER TABLE threads ADD COLUMN since_choice INTEGER;
  ALTER TABLE threads ADD COLUMN since_oauth INTEGER;
  ALTER TABLE threads ADD COLUMN since_timer INTEGER;
  ALTER TABLE threads ADD COLUMN subscriptions INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX threads_since_tool_call ON threads (since_tool_call) WHERE since_tool_call IS NOT NULL;
  CREATE INDEX threads_since_approval ON threads (since_approval) WHERE since_approval IS NOT NULL;
  CREATE INDEX threads_since_choice ON threads (since_choice) WHERE since_choice IS NOT NULL;
  CREATE INDEX threads_since_oauth ON threads (since_oauth) WHERE since_oauth IS NOT NULL;
  CREATE INDEX threads_since_timer ON threads (since_timer) WHERE since_timer IS NOT NULL;
  CREATE INDEX threads_subscribed ON threads (subscriptions) WHERE subscriptions > 0;
`;

/** The activity of tool servers by minute, their last discoveries, and the oldest open call of each thread at each. */
const toolServerHealth = `
  CREATE TABLE tool_activity (
    tenant TEXT NOT NULL,
    tool_server TEXT NOT NULL,
    began INTEGER NOT NULL,
    reporter TEXT NOT NULL,
    counts TEXT NOT NULL,
    breaker TEXT,
    written_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, tool_server, began, reporter)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tool_activity_by_age ON tool_activity (began);

  CREATE TABLE tool_discoveries (
    tenant TEXT NOT NULL,
    tool_server TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (tenant, tool_server)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE open_calls (
    tenant TEXT NOT NULL,
    tool_server TEXT NOT NULL,
    since INTEGER NOT NULL,
    tool_call TEXT NOT NULL,
    PRIMARY KEY (tenant, tool_server, since, tool_call)
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE threads ADD COLUMN open_calls TEXT;
  CREATE TRIGGER threads_open_calls AFTER UPDATE OF open_calls ON threads WHEN NEW.open_calls IS NOT OLD.open_calls BEGIN
    DELETE FROM open_calls WHERE (tenant, tool_server, since, tool_call) IN
      (SELECT OLD.tenant, value ->> 'toolServer', value ->> 'since', value ->> 'toolCallId' FROM json_each(OLD.open_calls));
    INSERT OR IGNORE INTO open_calls
      SELECT NEW.tenant, value ->> 'toolServer', value ->> 'since', value ->> 'toolCallId' FROM json_each(NEW.open_calls);
  END;
`;

/** What lists show of a thread beside its status, an index for those that changed lately, and usage by day. */
const listsAndUsage = `
  ALTER TABLE threads ADD COLUMN first_words TEXT;
  ALTER TABLE threads ADD COLUMN waiting_on TEXT;
  CREATE INDEX threads_newest_updated ON threads (tenant, created_at, thread, updated_at);

  CREATE TABLE thread_usage (
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    day INTEGER NOT NULL,
    agent TEXT NOT NULL,
    position INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    completions INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    active_ms INTEGER NOT NULL,
    waiting_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread, day)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE usage_days (
    tenant TEXT NOT NULL,
    day INTEGER NOT NULL,
    agent TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    completions INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    active_ms INTEGER NOT NULL,
    waiting_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant, day, agent)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER usage_counted_at_first AFTER INSERT ON thread_usage BEGIN
    INSERT INTO usage_days VALUES (NEW.tenant, NEW.day, NEW.agent, NEW.input_tokens, NEW.output_tokens, NEW.completions,
      NEW.tool_calls, NEW.active_ms, NEW.waiting_ms)
    ON CONFLICT DO UPDATE SET input_tokens = input_tokens + excluded.input_tokens,
      output_tokens = output_tokens + excluded.output_tokens, completions = completions + excluded.completions,
      tool_calls = tool_calls + excluded.tool_calls, active_ms = active_ms + excluded.active_ms,
      waiting_ms = waiting_ms + excluded.waiting_ms;
  END;
  CREATE TRIGGER usage_counted_again AFTER UPDATE ON thread_usage BEGIN
    UPDATE usage_days SET input_tokens = input_tokens + NEW.input_tokens - OLD.input_tokens,
      output_tokens = output_tokens + NEW.output_tokens - OLD.output_tokens,
      completions = completions + NEW.completions - OLD.completions,
      tool_calls = tool_calls + NEW.tool_calls - OLD.tool_calls,
      active_ms = active_ms + NEW.active_ms - OLD.active_ms, waiting_ms = waiting_ms + NEW.waiting_ms - OLD.waiting_ms
      WHERE tenant = NEW.tenant AND day = NEW.day AND agent = NEW.agent;
  END;
`;

const revokedTokens = `
  CREATE TABLE revoked_tokens (
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (id, tenant, thread)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX revoked_tokens_by_expiry ON revoked_tokens (expires_at);
`;

/** `changed` is the position of the last change; each index ends in the order of its lists. */
const questions = `
  CREATE TABLE questions (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    thread TEXT NOT NULL,
    kind TEXT NOT NULL,
    family TEXT NOT NULL,
    ancestors TEXT NOT NULL,
    agent TEXT NOT NULL,
    tool_call TEXT NOT NULL,
    operation TEXT NOT NULL,
    tool_server TEXT,
    asked INTEGER NOT NULL,
    since INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    settled INTEGER,
    settled_at INTEGER,
    changed INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX questions_oldest ON questions (tenant, is_open, since, id);
  CREATE INDEX questions_by_kind ON questions (tenant, is_open, kind, since, id);
  CREATE INDEX questions_by_agent ON questions (tenant, is_open, agent, since, id);
  CREATE INDEX questions_by_thread ON questions (tenant, is_open, thread, since, id);
  CREATE INDEX questions_by_family ON questions (tenant, is_open, family, since, id);
`;

/** Callbacks that came again or were refused, by call. */
const callbackCounts = `
  CREATE TABLE callback_counts (
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    tool_call TEXT NOT NULL,
    reporter TEXT NOT NULL,
    duplicates INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread, tool_call, reporter)
  ) STRICT, WITHOUT ROWID;
`;

/** Who did what. Rows are never changed: each holds the hash of the one before. */
const audit = `
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
const tenants = `
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

/** Endpoints of customers, what they are told, and how far the log was read for them. */
const webhooks = `
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
const arrivals = `
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

/** Whose task a question is, each a row in the order of the lists; and how far an approval is. Both are JSON. */
const assignees = `
  ALTER TABLE questions ADD COLUMN assignees TEXT;
  ALTER TABLE questions ADD COLUMN progress TEXT;
  CREATE TABLE question_assignees (
    tenant TEXT NOT NULL,
    assignee TEXT NOT NULL,
    is_open INTEGER NOT NULL,
    since INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (tenant, assignee, is_open, since, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER question_assigned AFTER INSERT ON questions WHEN NEW.assignees IS NOT NULL BEGIN
    INSERT OR IGNORE INTO question_assignees
      SELECT NEW.tenant, value, NEW.is_open, NEW.since, NEW.id FROM json_each(NEW.assignees);
  END;
  CREATE TRIGGER question_assigned_again AFTER UPDATE ON questions BEGIN
    DELETE FROM question_assignees WHERE tenant = OLD.tenant AND is_open = OLD.is_open AND since = OLD.since
      AND id = OLD.id AND assignee IN (SELECT value FROM json_each(OLD.assignees));
    INSERT OR IGNORE INTO question_assignees
      SELECT NEW.tenant, value, NEW.is_open, NEW.since, NEW.id FROM json_each(NEW.assignees);
  END;
  CREATE TRIGGER question_assigned_no_more AFTER DELETE ON questions WHEN OLD.assignees IS NOT NULL BEGIN
    DELETE FROM question_assignees WHERE tenant = OLD.tenant AND is_open = OLD.is_open AND since = OLD.since
      AND id = OLD.id AND assignee IN (SELECT value FROM json_each(OLD.assignees));
  END;
`;

/** What tenants have used, and how many threads and subscriptions they have open. */
const tenantLimits = `
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
const userCredentials = `
  CREATE TABLE user_credentials (
    tenant TEXT NOT NULL,
    user_id TEXT NOT NULL,
    tool_server TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (tenant, user_id, tool_server)
  ) STRICT, WITHOUT ROWID;
`;

/** The threads whose logs name a blob; the thread '' where that is not known. (blobs B1) */
const blobThreads = `
  CREATE TABLE blob_threads (
    tenant TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    thread TEXT NOT NULL,
    PRIMARY KEY (tenant, sha256, thread)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX blob_threads_by_thread ON blob_threads (tenant, thread);
  INSERT INTO blob_threads SELECT tenant, sha256, '' FROM blobs;
`;

/**
 * What a thread was forked from ('' for nothing, NULL where a release before has not said it), and since when it is
 * being removed. Each index has only the rows of its list.
 */
const restingThreads = `
  ALTER TABLE threads ADD COLUMN forked_from TEXT;
  ALTER TABLE threads ADD COLUMN leaving_at INTEGER;
  CREATE INDEX threads_at_rest ON threads (tenant, updated_at, thread)
    WHERE parent IS NULL AND status IN ('idle', 'closed') AND subscriptions = 0;
  CREATE INDEX threads_leaving ON threads (tenant, updated_at, thread) WHERE parent IS NULL AND leaving_at IS NOT NULL;
  CREATE INDEX threads_by_family ON threads (tenant, family, thread);
  CREATE INDEX threads_by_fork ON threads (tenant, forked_from) WHERE forked_from > '';
  CREATE INDEX threads_unplaced ON threads (tenant) WHERE parent IS NULL AND forked_from IS NULL;
`;

/** Claims of deliveries are deleted by their age. */
const claimsByAge = `
  CREATE INDEX source_deliveries_by_age ON source_deliveries (at);
`;

/** What threads are held by, a mark for each reason; and agents that are paused. */
const pauses = `
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

/** What seals the contents of each family; null for one that was erased. */
const familyKeys = `
  CREATE TABLE family_keys (
    tenant TEXT NOT NULL,
    family TEXT NOT NULL,
    sealed TEXT,
    PRIMARY KEY (tenant, family)
  ) STRICT, WITHOUT ROWID;
`;

/** What was erased, or is being erased. */
const erasures = `
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

export const schemaSteps: readonly string[] = [
  firstStep,
  parkedThreads,
  viewsAndLogins,
  idsFirst,
  placesBehind,
  inputsBehind,
  uniqueVersions,
  census,
  toolServerHealth,
  listsAndUsage,
  revokedTokens,
  questions,
  callbackCounts,
  audit,
  tenants,
  webhooks,
  arrivals,
  assignees,
  tenantLimits,
  userCredentials,
  blobThreads,
  restingThreads,
  claimsByAge,
  pauses,
  familyKeys,
  erasures,
];

/** Run at every opening: a claim ends with the process that held it, so each unfinished one gets the oldest time. */
export const releaseClaims =
  'UPDATE idempotency SET claimed_at = 0 WHERE status IS NULL AND claimed_at > 0; ' +
  'UPDATE webhook_readers SET holder = NULL, held_until = 0 WHERE holder IS NOT NULL';

// Steps of the rows beside the log of a thread: lists, census, usage, parking, views, calls.

export const parkedThreads = `
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

export const viewsAndLogins = `
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

/** Kept for the census: how many threads have a status, since when a thread waits, and its subscriptions. */
export const census = `
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
export const toolServerHealth = `
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
export const listsAndUsage = `
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

/** Callbacks that came again or were refused, by call. */
export const callbackCounts = `
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

/**
 * What a thread was forked from ('' for nothing, NULL where a release before has not said it), and since when it is
 * being removed. Each index has only the rows of its list.
 */
export const restingThreads = `
  ALTER TABLE threads ADD COLUMN forked_from TEXT;
  ALTER TABLE threads ADD COLUMN leaving_at INTEGER;
  CREATE INDEX threads_at_rest ON threads (tenant, updated_at, thread)
    WHERE parent IS NULL AND status IN ('idle', 'closed') AND subscriptions = 0;
  CREATE INDEX threads_leaving ON threads (tenant, updated_at, thread) WHERE parent IS NULL AND leaving_at IS NOT NULL;
  CREATE INDEX threads_by_family ON threads (tenant, family, thread);
  CREATE INDEX threads_by_fork ON threads (tenant, forked_from) WHERE forked_from > '';
  CREATE INDEX threads_unplaced ON threads (tenant) WHERE parent IS NULL AND forked_from IS NULL;
`;

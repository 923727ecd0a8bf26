// Steps of the questions to people.

/** `changed` is the position of the last change; each index ends in the order of its lists. */
export const questions = `
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

/** Whose task a question is, each a row in the order of the lists; and how far an approval is. Both are JSON. */
export const assignees = `
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

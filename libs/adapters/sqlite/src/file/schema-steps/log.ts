// Steps of the log: what it is found by, and how its contents are sealed.

/** The same rows, sorted by their ids. (schema S5) */
export const idsFirst = `
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
export const placesBehind = `
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
export const inputsBehind = `
  INSERT INTO places SELECT number, version, id FROM commits WHERE id > (SELECT upto FROM placed) ORDER BY number, version;
  UPDATE placed SET upto = (SELECT ifnull(max(id), 0) FROM commits);
`;

/** Claims the inputs that were left out, and makes a version of a thread unique again. (schema S3) */
export const uniqueVersions = `
  INSERT OR IGNORE INTO inputs (input, number, version) SELECT each.value, number, version
    FROM commits, json_each(commits.inputs) AS each WHERE commits.id > (SELECT upto FROM placed)
    ORDER BY each.value, number;
  CREATE UNIQUE INDEX commits_by_version ON commits (number, version);
  DROP TABLE places;
  DROP TABLE placed;
`;

/** The threads whose logs name a blob; the thread '' where that is not known. (blobs B1) */
export const blobThreads = `
  CREATE TABLE blob_threads (
    tenant TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    thread TEXT NOT NULL,
    PRIMARY KEY (tenant, sha256, thread)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX blob_threads_by_thread ON blob_threads (tenant, thread);
  INSERT INTO blob_threads SELECT tenant, sha256, '' FROM blobs;
`;

/** What seals the contents of each family; null for one that was erased. */
export const familyKeys = `
  CREATE TABLE family_keys (
    tenant TEXT NOT NULL,
    family TEXT NOT NULL,
    sealed TEXT,
    PRIMARY KEY (tenant, family)
  ) STRICT, WITHOUT ROWID;
`;

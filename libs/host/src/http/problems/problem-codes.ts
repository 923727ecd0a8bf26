// Every code that a client, a tool's author or an operator may meet: in a problem document, in a recorded refusal or
// failure, or on the terminal. One registry: the pages under /errors and docs/errors are generated from it.
//
// Invariants:
//   C1. Every code that the source can give is here; test/docs compares registry, source and pages.
//   C2. `status` is the HTTP status of a problem document; null for codes that only appear in events or on a terminal.

export interface CodeEntry {
  readonly status: number | null;
  readonly title: string;
  readonly meaning: string;
  readonly next: string;
}

const entry = (title: string, meaning: string, next: string, status: number | null = null): CodeEntry => ({
  ...{ status, title, meaning, next },
});

/** Problems of a request to the client API. */
const requestCodes = {
  UNAUTHENTICATED: entry(
    'No valid key',
    'The request carries no key, or one that is unknown or has expired.',
    'Send `Authorization: Bearer <key>`. Standalone keeps the development key in the file `key` of its data directory. A token in the query is accepted on the event stream only.',
    401,
  ),
  FORBIDDEN: entry(
    'Not allowed',
    'The key or token lacks the scope, or `Host` or `Origin` is not one that this server answers to.',
    'Use a key with the scope that the detail names. For another host name set `DORMOUSE_PUBLIC_URL`, for pages of another origin `DORMOUSE_ALLOWED_ORIGINS`.',
    403,
  ),
  TENANT_SUSPENDED: entry(
    'Tenant suspended',
    'The platform has suspended the tenant of this key, or is deleting it. Nothing is asked or sent for it; what tools send is taken, and waits.',
    'Ask the operator of the installation. It is resumed with `PATCH /v1/tenants/{id}` and the platform key.',
    403,
  ),
  NOT_FOUND: entry(
    'Not found',
    'There is no such resource, or it belongs to another tenant.',
    'Check the id and the key you use.',
    404,
  ),
  METHOD_NOT_ALLOWED: entry(
    'Wrong method',
    'There is something at this path, and it takes other methods.',
    'Use one of those that the header `Allow` names.',
    405,
  ),
  PRECONDITION_FAILED: entry(
    'Changed meanwhile',
    'The `If-Match` of the request names another version than the one that is there. Nothing was changed.',
    'Read it again, apply the change to what is there now, and send the `ETag` of that answer.',
    412,
  ),
  INVALID_JSON: entry(
    'Not JSON',
    'The body is not JSON, or not safe JSON: invalid UTF-8, the same key twice, a key that could reach a prototype, a lone surrogate.',
    'Send strict JSON in UTF-8; `errors[].pointer` says where the problem is.',
    400,
  ),
  INVALID_BODY: entry(
    'Cannot be used',
    'The syntax is right, the content is not: a wrong type, a missing field, a value out of range, or a name that does not exist.',
    'Correct what `errors` points at.',
    422,
  ),
  UNKNOWN_FIELD: entry(
    'Unknown field',
    'The request has a field or query parameter that this server does not know.',
    'Remove it; `errors[].pointer` names it. Unknown fields are refused so that a misspelt one is never ignored.',
    422,
  ),
  BODY_TOO_LARGE: entry(
    'Too large',
    'The body exceeds 8 MiB, or its JSON holds more than 50 000 values.',
    'Send less at once.',
    413,
  ),
  BODY_TOO_DEEP: entry('Too deep', 'The JSON is nested more than 32 levels.', 'Flatten it.', 422),
  HEADERS_TOO_LARGE: entry(
    'Headers too large',
    'The headers of the request, its path among them, exceed 16 KiB.',
    'Send less in headers and in the query.',
    431,
  ),
  REQUEST_TIMEOUT: entry(
    'Not finished in time',
    'Head and body of the request did not come to their end within `DORMOUSE_REQUEST_TIMEOUT_MS`.',
    'Send it again, without pauses. An answer and an event stream may take as long as they like.',
    408,
  ),
  MALFORMED_REQUEST: entry(
    'Not HTTP',
    'What came over the connection is not an HTTP request that can be read.',
    'Look at what the client, or a proxy before this server, really sends.',
    400,
  ),
  UNSUPPORTED_MEDIA_TYPE: entry(
    'Not application/json',
    'The body has a media type other than `application/json`.',
    'Send `Content-Type: application/json`.',
    415,
  ),
  ALREADY_EXISTS: entry(
    'Taken',
    'Something else has this name or external id.',
    'Choose another name, or read what is there. For threads, `if_exists: "return"` answers the existing one. ' +
      'A tool server is changed with `dormouse tools set NAME`, or `PATCH /v1/tool-servers/NAME`.',
    409,
  ),
  QUOTA_EXCEEDED: entry(
    'Quota used up',
    'The tenant has, or has used today, as much as its quota allows; the detail names the quota. What is there goes on, but for completions of a tenant whose tokens or money of the day are used up.',
    'Close or delete what is no longer needed, wait for the next day (UTC) where the quota is one of a day, or ask the operator: `PATCH /v1/tenants/{id}` with the platform key raises it. Threads that stopped go on with `POST …/retry`.',
    409,
  ),
  AGENT_IN_USE: entry('Agent in use', 'Threads that are not closed use this agent.', 'Close them first.', 409),
  CONTENT_ERASED: entry(
    'Content erased',
    'The contents of this thread were erased; its log has nothing that could be gone on from.',
    'Open another thread.',
    409,
  ),
  THREAD_OPEN: entry(
    'Thread open',
    'Only a closed thread can be deleted.',
    'Close it first, with `POST /v1/threads/{id}/close`; or send `POST /v1/erasures`, which closes it itself.',
    409,
  ),
  SECRET_IN_USE: entry(
    'Secret in use',
    'A tool server or an agent names this secret.',
    'Change or delete that registration first.',
    409,
  ),
  TOO_MANY_WEBHOOKS: entry(
    'Too many webhooks',
    'The tenant has as many webhooks as it may have.',
    'Delete those that are not used. One webhook can be told of the threads of many of your own customers.',
    409,
  ),
  TOO_MANY_SOURCES: entry(
    'Too many sources',
    'The tenant has as many sources as it may have: 200.',
    'Delete those that are not used. One source can bring the deliveries of many threads: its key says which.',
    409,
  ),
  TOO_MANY_SCHEDULES: entry(
    'Too many schedules',
    'The tenant has as many schedules as it may have: 200.',
    'Delete those that are not used. What one thread has to do at times of its own, its agent schedules itself.',
    409,
  ),
  WEBHOOK_DISABLED: entry(
    'Webhook disabled',
    'Nothing is sent to the webhook: it answered 410, every attempt of five days failed, or an administrator disabled it.',
    'Repair the endpoint, then `PATCH /v1/webhooks/{id}` with `{"state": "active"}`. What had failed before is sent again by `POST /v1/webhooks/{id}/recover`.',
    409,
  ),
  WEBHOOK_FAILING: entry(
    'Webhook failing',
    'Every attempt to deliver to the webhook has failed since the time that is named. After five days it is disabled.',
    'The statuses are in `GET /v1/webhooks/{id}/deliveries`. An endpoint answers 2xx within 15 seconds; a redirect is a failure.',
  ),
  IDEMPOTENCY_KEY_REUSED: entry(
    'Idempotency key used before',
    'This `Idempotency-Key` was used on the same route with another body.',
    'Use a fresh key for a new request.',
    422,
  ),
  IDEMPOTENCY_IN_PROGRESS: entry(
    'Still running',
    'A request with this `Idempotency-Key` has not been answered yet.',
    'Wait a moment and send it again.',
    409,
  ),
  CURSOR_INVALID: entry(
    'Cursor invalid',
    'The cursor was not given by this list.',
    'Start again without a cursor.',
    422,
  ),
  RATE_LIMITED: entry(
    'Too many requests',
    'The tenant has used its share for now.',
    'Wait as long as `Retry-After` says.',
    429,
  ),
  INTERNAL: entry(
    'Our mistake',
    'Something failed that should not have. Nothing was acknowledged.',
    'Send the request again with the same `Idempotency-Key`; report the request id.',
    500,
  ),
  UNAVAILABLE: entry(
    'Not now',
    'Something this needs does not answer, or the process is stopping. Nothing was acknowledged.',
    'Try again after `Retry-After`, with the same `Idempotency-Key`.',
    503,
  ),
  STATE_UNAVAILABLE: entry(
    'State cannot be loaded',
    'The thread’s state could not be read. Nothing goes on until it can; nothing is lost.',
    'Look at the store’s health; work resumes by itself.',
    503,
  ),
} as const satisfies Record<string, CodeEntry>;

/** What a thread recorded instead of carrying out a client's request. */
const refusalCodes = {
  THREAD_CLOSED: entry(
    'Thread closed',
    'The thread was closed before the message or request came to it.',
    'Open another thread.',
  ),
  CALLS_PENDING: entry(
    'Calls pending',
    'The agent’s policy `on_interrupt: reject` refuses messages while tool calls are pending.',
    'Wait for them, or interrupt first.',
  ),
  QUEUE_FULL: entry('Queue full', 'The policy `queue` has 1 000 messages waiting.', 'Wait, or interrupt.'),
  LIMIT_REACHED: entry(
    'Limit reached',
    'The thread has as many subscriptions, schedules or waiting events as it may have.',
    'End one of them first: `POST …/subscriptions/{call}/cancel`, `DELETE …/schedules/{schedule}`.',
  ),
  NOTHING_TO_STOP: entry(
    'Nothing to stop',
    'Nothing was running that the request could have stopped.',
    'Nothing: the thread is as it was.',
  ),
  NOTHING_TO_RETRY: entry('Nothing to retry', 'The last turn did not fail.', 'Nothing: the thread is as it was.'),
  CHOICE_CHANGED: entry(
    'Other arguments',
    'The answer is about other arguments than the call has.',
    'Read the choice again, and answer what it shows; `arguments_hash` of the choice names it.',
    409,
  ),
  APPROVAL_COUNTED: entry(
    'Counted already',
    'The call needs several approvals, and one of this key, user or link counts already.',
    'Another person allows it, with another key, token or link. To end it, deny it.',
    409,
  ),
  CHOICE_SETTLED: entry(
    'Already answered',
    'This choice was answered, or its call was stopped, before this answer came.',
    'The problem’s member `settled` holds the first answer.',
    409,
  ),
} as const satisfies Record<string, CodeEntry>;

/** How a tool call or toolset failed; the model gets a sentence instead of the code. */
const toolCodes = {
  TOOLSET_INVALID: entry(
    'Manifest invalid',
    'The tool server’s manifest breaks the protocol’s rules, or is not the pinned one. None of its tools is offered.',
    'See `problems` of the event; `POST /v1/tool-servers/{name}/probe` judges it again. A manifest that is meant to have changed is approved by its hash: `dormouse tools set NAME --pin SHA256`.',
  ),
  TOOLSET_UNREACHABLE: entry(
    'Tool server unreachable',
    'The manifest could not be fetched and no earlier copy is kept.',
    'Check that the server runs and that its address is right.',
  ),
  OUTBOUND_FORBIDDEN: entry(
    'Address not allowed',
    'The outbound guard does not allow this address: private and loopback addresses and plain http need a rule.',
    'Add the destination to `DORMOUSE_OUTBOUND_ALLOW`, or to the tenant’s `outbound_allow`.',
  ),
  TOOL_NAME_DUPLICATE: entry(
    'Tool name used twice',
    'Two toolsets offer a tool of this name, or one offers the name of a built-in tool. None of them is offered to the model.',
    'Rename one of them.',
  ),
  TOOL_UNKNOWN: entry(
    'Unknown tool',
    'The model asked for a tool that is not offered. Nothing was sent.',
    'Usually nothing: the model is told.',
  ),
  ARGUMENTS_INVALID: entry(
    'Arguments invalid',
    'The model’s arguments are not an object or do not match the tool’s schema. Nothing was sent.',
    'Usually nothing: the model is told what is wrong.',
  ),
  DISPATCH_FAILED: entry(
    'Could not be sent',
    'The tool server refused the call with a 4xx, or did not accept it within the retry time.',
    'See the attempts under `/tool-calls`.',
  ),
  CREDENTIAL_REFRESH_FAILED: entry(
    'The user has to log in again',
    'A call was not sent: what its user has for the tool server has ended, and its provider refuses to refresh it.',
    'Let the user log in at the provider, and set the credential again: `PUT /v1/users/{user_id}/credentials/{tool_server}`.',
  ),
  OUTCOME_UNKNOWN: entry(
    'Outcome unknown',
    'A call that is sent at most once may or may not have run.',
    'Check at the tool before you ask for it again.',
  ),
  TOOL_TIMED_OUT: entry(
    'Timed out',
    'The tool did not answer within the agent’s `tool_timeout_ms`.',
    'Raise the limit, or look at the tool.',
  ),
  DENIED: entry('Denied', 'A person denied the call, or nobody allowed it in time.', 'Nothing.'),
  TOOLSET_CHANGED: entry(
    'Toolset changed',
    'The tool server refused the call with 409: its toolset is another one than the call was made for. The manifest was fetched again and the model was told what changed.',
    'Usually nothing: new threads, and the next call, use the new toolset.',
  ),
  SECRET_UNUSABLE: entry(
    'Secret unusable',
    'The tool server’s registration names a secret that does not exist or may not be sent to its origin. Nothing was sent.',
    'Set the secret with this origin: `PUT /v1/secrets/{name}`.',
  ),
  NAME_NOT_RESOLVED: entry(
    'Name not resolved',
    'The host name of a tool server or model could not be resolved.',
    'Check the address; the call is tried again for a while.',
  ),
  RESULT_TOO_LARGE: entry(
    'Result too large',
    'The tool’s result exceeds what is accepted; the call is settled with an error.',
    'Let the tool return less, or a link.',
    413,
  ),
  RESULT_UNREADABLE: entry(
    'Result unreadable',
    'The tool’s result could not be decoded; the call is settled with an error.',
    'Correct the tool server.',
    400,
  ),
  CALLBACK_EXPIRED: entry(
    'Callback expired',
    'The callback URL is one of ours, but it has expired or its key was revoked. Nothing was stored.',
    'Let the tool answer sooner, or raise the agent’s `callback_ttl_s`.',
    410,
  ),
} as const satisfies Record<string, CodeEntry>;

/** How a model or a budget stopped a turn. */
const turnCodes = {
  MODEL_FAILED: entry(
    'Model failed',
    'The provider failed after all retries. The message is kept.',
    '`POST …/retry`, or send another message.',
  ),
  MODEL_REFUSED: entry(
    'Model refused',
    'The provider refused the request itself: key, quota, or content.',
    'Correct the agent’s model settings or the message.',
  ),
  MODEL_RETRYING: entry(
    'Model retrying',
    'The model cannot be reached, or fails, and is asked again: the problem of the thread says with what, at which host, and when.',
    'Nothing, if it passes. Otherwise look at the host and the model settings of the agent; an interrupt ends the wait.',
  ),
  NEEDS_NEWER_VERSION: entry(
    'Needs a newer version',
    'Why a thread is parked: the process that owns it is of an earlier version, and does not know something that a newer one has written. Nothing is lost.',
    'Go on with the upgrade: a process that knows it lets the thread go on by itself.',
  ),
  CONTEXT_OVERFLOW: entry(
    'Context overflow',
    'The conversation is longer than the window of the model: the provider refused the prompt. Nothing was lost, and nothing is tried again.',
    'Fork the thread at an earlier position, or open a new thread with a summary of this one; for later threads, make a version of the agent whose model has a larger window. Long results of tools use the most: let a tool return less.',
  ),
  TOO_MANY_CALLS: entry(
    'Too many calls',
    'The model asked for more than 128 tool calls in one answer. None of them was made, and the answer was not kept.',
    'Send another message, for example one that asks for fewer calls at once.',
  ),
  BUDGET_EXCEEDED: entry(
    'Budget exceeded',
    'A limit of the agent stopped the turn: completions per wake, or the same call over and over.',
    'Send a message or `retry` to go on; raise the limit in a new agent version.',
  ),
} as const satisfies Record<string, CodeEntry>;

/** Why the process does not start. */
const startCodes = {
  DATA_DIR_IN_USE: entry(
    'Data directory in use',
    'Another process uses this data directory.',
    'Stop it, or choose another directory with `--data`.',
  ),
  DATA_DIR_UNWRITABLE: entry(
    'Data directory not writable',
    'The data directory cannot be made or written to.',
    'Choose another with `--data`, or correct its permissions.',
  ),
  TOPICS_UNFIT: entry(
    'The topics are not as they must be',
    'A topic of the cluster is missing or cannot be made, has another number of partitions, forgets too early, takes too small messages, or belongs to another installation; or the brokers forget too early what a group has finished.',
    'Do what the message says. Missing topics are made by `npm run setup`, which waits half a minute for brokers that are busy or still starting; what is there it does not change: set `retention.ms` and `max.message.bytes` of the topics and `offsets.retention.minutes` of the brokers yourself. A number of partitions is never changed. One installation has one prefix of topics and one database.',
  ),
  INDEX_MISSING: entry(
    'An index is missing',
    'The database of the cluster lacks an index, or has one of its name that is another: without it an input could be decided twice, or a question walk through everything.',
    'Do what the message says. Missing indexes are made by `npm run setup`, which replaces none that is there: drop one that is another first. A database of before is brought along by the same command, with the services stopped. `setup` ends with this code, too, while a thread-processor runs on a database of an older version: what it appends would not be brought along. Stop the services, wait until they have ended (a killed one leaves its group after `DORMOUSE_KAFKA_SESSION_TIMEOUT_MS`), and run it again.',
  ),
  MASTER_KEY_WRONG: entry(
    'Another master key',
    'The process has another `DORMOUSE_MASTER_KEY` than the installation: it could read no secret, and would give out callback URLs that the others do not take. Or the file `master-key` of a data directory is lost, or another one: nothing that is sealed there opens.',
    'Set the key of the other processes. If it is lost, remove its mark from the database and set the installation up with another one, as docs/how-to/survive-a-disaster.md says. For a data directory, restore `master-key` from its backup; without it what the directory has sealed cannot be read by anything.',
  ),
  KMS_REFUSED: entry(
    'Key management refused',
    'The master keys of this process are wrapped by a key management, and it does not unwrap them: its answer was a refusal, none is set, or it has not confirmed them for `DORMOUSE_MASTER_KEY_HELD_MS`.',
    'Do what the message says. The token in the file of `DORMOUSE_VAULT_TOKEN_FILE` needs a policy with `update` on `MOUNT/encrypt/NAME` and `MOUNT/decrypt/NAME`, and the key `DORMOUSE_VAULT_KEY` must have the version that has wrapped them. See docs/how-to/keep-keys-in-vault.md.',
  ),
  RECORD_TOO_LARGE: entry(
    'Too large for the bus',
    'An input or a piece of work does not fit into one record of Kafka. Nothing was accepted; a call that does not fit is settled with this code.',
    'Send less at once, or raise `max.message.bytes` of the topics and start again.',
    413,
  ),
  DATABASE_NEWER: entry(
    'Database is newer',
    'The data directory was written by a newer version of Dormouse.',
    'Run that version, or another directory.',
  ),
  PORT_TAKEN: entry('Port taken', 'Another process listens on the port.', 'Stop it, or choose another with `--port`.'),
  PORT_FORBIDDEN: entry('Port forbidden', 'This user may not listen on the port.', 'Choose one above 1023.'),
  HOST_UNKNOWN: entry(
    'Address unknown',
    'This machine does not have the address that `DORMOUSE_HOST` names.',
    'Use 127.0.0.1, 0.0.0.0 or an address of this machine.',
  ),
  DATABASE_CORRUPT: entry(
    'Database corrupt',
    "The database file is damaged or not a database of ours, or the key or the clock's offset beside it is damaged; in a cluster, a document of the database has another shape.",
    'Restore a backup, or start with another directory. In a cluster, repair or restore the document that the message names.',
  ),
} as const satisfies Record<string, CodeEntry>;

export const problemCodes = { ...requestCodes, ...refusalCodes, ...toolCodes, ...turnCodes, ...startCodes };

export type ProblemCode = keyof typeof problemCodes;

export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problemCodes, code);

export const codeEntry = (code: ProblemCode): CodeEntry => problemCodes[code];

/** The page of a code, the same under /errors and in docs/errors. */
export function errorPage(code: ProblemCode): string {
  const { status, title, meaning, next } = codeEntry(code);
  const where = status === null ? 'Appears in events or on the terminal.' : `HTTP status ${status}.`;
  return `# ${code}\n\n**${title}.** ${where}\n\n${meaning}\n\n## What to do\n\n${next}\n`;
}

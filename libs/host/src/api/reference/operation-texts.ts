// What a summary has no room for, by operation.

export const operationTexts: Readonly<Record<string, string>> = {
  createAgent:
    'A name that exists gets its next version; content that its latest version has gets that version, with 200. Tool servers and secrets that it names must exist.',
  getAgentVersion: 'A thread keeps the version that it was opened with, also after newer ones were made.',
  putSecret: 'Another value under the same name replaces it; calls use the new one within a second.',
  createToolServer:
    'What no call could ever use is refused: an address that may not be called, a secret that is unknown or may not be sent to the origin of the base URL. A server that does not answer now, or whose manifest is not good now, is registered, and `warnings` say so; a thread fetches the manifest anew. The credential is tried by `probe`. The same registration again answers 200.',
  probeToolServer: 'Answers also when the tool server does not: `ok` is false then, and `problems` say why.',
  openThread:
    'A first message may come along. With `external_id` and `if_exists: "return"` the same thread is answered every time, with 200 when it exists.',
  listTenantEvents:
    'A reader that goes on after each `cursor`, or `next_cursor`, which is never null, sees every event once. `after=latest` begins at the end. The events of one thread come in their order; those of several about in the order of their times. An empty page says that nothing is newer yet.',
  forkThread:
    'Root of a family of its own. Calls that are open at that position appear as interrupted; subscriptions, timers and choices are not inherited.',
  interruptThread:
    'Does what the policy `cancel` does, whatever the agent’s policy is. Calls that wait for a person go on unless `include_human` is true.',
  patchAgent:
    'While it is paused, messages, results and events are taken and wait; a completion that runs is broken off and asked for again. What stops a thread works.',
  batchThreads:
    'Asked again with its `Idempotency-Key` it asks no thread twice. Closed threads are not counted, nor idle ones by `interrupt`.',
  pauseToolServer:
    'Calls wait, and are sent once it is resumed; their own time limits go on. Results of what was sent before are taken. New threads have the tools that it had.',
  retryThread:
    'Useful after `completion_failed` or `budget_exceeded`. With nothing to ask again it is refused in the log.',
  closeThread: 'Open calls end as interrupted, subscriptions end. What comes later is refused in the log.',
  postMessage:
    'Messages that arrive while the model runs are answered together by the next completion; what they do to open calls is the agent’s policy `on_interrupt`.',
  listMessages: 'Texts of people, answers of the model, results of tools and events, as a chat shows them.',
  listEvents:
    'A page ends with `next_cursor`, which is never null: a reader that polls keeps its place. With `order=desc` a page goes back, from the last event or from the one before the cursor, and an empty page is the end. With `Accept: text/event-stream` the same goes on as a stream that resumes without a gap and without a repetition. On connect it has status, open choices, open logins and current views, then what is newer. Every 15 seconds without an event there is a comment.',
  listCommits: 'Each commit has the hash of the one before: `dormouse verify` checks the chain.',
  importThread: 'Invisible until the last part has come.',
  importBlob: 'Sent before the commits that refer to it.',
  listTurns: 'With `turn`, that turn alone.',
  cancelSubscription: 'What the model can do with the built-in tool.',
  assignChoice:
    'Labels give no permission: every key that may answer choices may answer this one. Rows of lists follow a moment later.',
  createAnswerLink:
    'The page behind it shows the call and its arguments, and has a form with the answers in `can`; opening it changes nothing. The link works once, until it expires, and only while the call has the arguments that it has now; `choice_settled` names `for`. Give it to one person: it is a credential.',
  answerChoice:
    'A second answer is 409; the problem’s `settled` has the first one. Where several must allow a call, each of them needs another credential, and the choice stays open until there are as many as it needs; other `arguments` void the approvals before them, and the first denial ends it.',
  getBlob: 'The media type is that of the payload.',
  issueThreadToken: 'A browser never holds a key: a backend makes a token for it.',
  beginBackup:
    'The directory appears when it is whole: `npm start -- --data` starts from it. It has the keys, so keep it as you keep them. While it is written, the write-ahead log of the process grows.',
  reconcile:
    'For use after a topic was lost or a store was restored. One page of threads, oldest first; go on with `next_cursor` as `cursor` until it is null. Without `pay` nothing changes. Paying again is harmless: every debt has an id on which its receiver dedups.',
  putUserCredential:
    'Calls of threads with this `user_id` present it to the tool server, in place of a bearer of the registration. A grant is refreshed at its `token_url` when its access token ends; when the provider refuses, the call fails and the thread has `credential_refresh_failed`.',
  resealSecrets:
    'After another master key has come into use. It goes on for twenty seconds at most: send it until `done`. Then the installation refuses a process that lacks this key.',
  dropParked: 'It is not deleted: it stays to be seen.',
  createSchedule:
    'Each time leads to one message, in however many processes. Missed times lead to one late message, or to none with `missed: "skip"`; the list counts them. A thread that was closed is not woken: a new one opens.',
  createSource:
    'Deliveries are POSTed to `url`, signed with the secret. Each is one message, however often it comes: 202, and 200 again. It wakes the open thread whose `external_id` the key names, or opens one; without a key each delivery has a thread of its own. The URL is a credential; the same request again shows it again.',
};

/**
 * Owns: what a handler can do besides returning: subscribe, ask, log in, show, remember.
 *
 * B1. Nothing of a call is sent after the call has ended, except by its subscription.
 * B2. Waiting for a user does not count as the handler's time, and survives a restart of the process. T11 T26
 * B3. The user's id is given only to a tool that says it acts for a user. T33 T47
 */
import { encodeCallback } from '@dormouse/protocol';
import type { Authorizations } from '../ask/authorizations.ts';
import { echoOf, nameOf, type TakenCall } from './call-address.ts';
import type { CallLedger } from './call-ledger.ts';
import type { Choices } from '../ask/choices.ts';
import type { Deadline } from './deadline.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Redactor } from '../outbox/redactor.ts';
import type { Subscription, Subscriptions } from './subscription.ts';
import { cleaned, type ThreadStore } from './thread-store.ts';
import type { Tool, ToolContext } from '../define/tool.ts';

export interface ContextParts {
  readonly ledger: CallLedger;
  readonly outbox: Outbox;
  readonly subscriptions: Subscriptions;
  readonly choices: Choices;
  readonly authorizations: Authorizations;
  readonly threads: ThreadStore;
  /** Whether `user_id` comes from an authenticated runtime. */
  readonly trustsUserId: boolean;
  readonly publicUrl: () => string;
  readonly log: (line: string) => void;
}

export function createContext(
  parts: ContextParts,
  call: TakenCall,
  tool: Tool,
  running: {
    readonly signal: AbortSignal;
    readonly deadline: Deadline;
    readonly redactor: Redactor;
    readonly subscribed: (subscription: Subscription) => void;
  },
): ToolContext {
  const { ledger, outbox, subscriptions, choices, authorizations, threads } = parts;
  const { signal, deadline, redactor } = running;
  let questions = 0;
  /** Runs while a user is asked, until the answer arrives or its time is over. (B2) */
  async function asking<Value>(answer: Promise<Value>): Promise<Value> {
    try {
      const value = await deadline.pausedFor(answer);
      ledger.setAsking(call, false);
      return value;
    } catch (error) {
      if (!signal.aborted) ledger.setAsking(call, false); // otherwise the call ends, or the next process continues
      throw error;
    }
  }
  const send = (body: object): void => {
    if (!ledger.isOpen(call)) throw new Error('this call has ended'); // (B1)
    const { callbackUrl, groupId: threadId, trace } = call;
    outbox.add({ callbackUrl, threadId, body: JSON.stringify(body), trace });
    ledger.setAsking(call, true);
  };
  return {
    id: call.id,
    threadId: call.groupId,
    rootThreadId: call.rootThreadId,
    ...(tool.requiresUser === true && call.userId !== undefined ? { userId: call.userId } : {}), // (B3)
    signal,
    memory: threads.memoryOf(call.rootThreadId),
    log: (line) => parts.log(redactor.line(`${nameOf(call)}: ${line}`)),
    async subscribe({ text = 'Subscribed.', data, ttlMs } = {}) {
      signal.throwIfAborted();
      const confirm = (): boolean => ledger.confirm(call, `${text} Subscription ID: ${call.id}`, redactor.clean); // T28
      const subscription = subscriptions.open(call, tool.name, { data, ttlMs }, confirm);
      if (subscription === null) throw new Error('this call has its result already');
      running.subscribed(subscription);
      return subscription;
    },
    choose(question) {
      const { prompt, choices: labels } = cleaned({ ...question }, redactor.clean) as typeof question;
      const asked = { prompt, choices: [...labels], default: question.default };
      const ask = (path: string): void => {
        const responseUrl = `${parts.publicUrl()}${path}`;
        send(encodeCallback({ type: 'user_choice', ...echoOf(call), ...asked, responseUrl }));
      };
      return asking(choices.ask({ call, ordinal: questions++ }, question, signal, ask));
    },
    async authorize({ scopes = [] } = {}) {
      if (tool.oauth === undefined) throw new Error(`tool ${tool.name} has no oauth provider`);
      const { userId, groupId, rootThreadId } = call;
      const owner = parts.trustsUserId && userId !== undefined ? `user ${userId}` : `thread ${rootThreadId || groupId}`;
      const ask = (authUrl: string): void => send(encodeCallback({ type: 'oauth', ...echoOf(call), authUrl }));
      const request = { provider: tool.oauth, owner, scopes, signal, protect: redactor.protect, ask };
      return asking(authorizations.authorize(request));
    },
    async view(type, content) {
      signal.throwIfAborted();
      threads.sendView(call, type, content, redactor.clean);
    },
  };
}

/**
 * Owns: how the parts of a tool server are connected. Its only own behaviour is expiry and sweeping.
 */
import { randomBytes } from 'node:crypto';
import { createAuthorizations } from './ask/authorizations.ts';
import type { PostedCall } from './call/call-address.ts';
import { createCallLedger } from './call/call-ledger.ts';
import { createCallbackDelivery } from './outbox/callback-delivery.ts';
import { createFetchDelivery } from './outbox/fetch-delivery.ts';
import { createCalls } from './call/calls.ts';
import { createChoices } from './ask/choices.ts';
import { describeError } from './outbox/describe-error.ts';
import { createHandover } from './outbox/handover.ts';
import type { OAuthProvider } from './ask/oauth-provider.ts';
import { createOutbox, deliverySettings } from './outbox/outbox.ts';
import type { Redactor } from './outbox/redactor.ts';
import type { ServerLimits, ToolServerOptions } from './define/serve-options.ts';
import { createSubscriptions, type Subscription } from './call/subscription.ts';
import { createThreadStore } from './call/thread-store.ts';
import type { Tool } from './define/tool.ts';
import { createMemoryStore } from './store/memory-store.ts';
import { openSqliteStore } from './store/sqlite-store.ts';
import type { Store } from './store/store.ts';
import { isWorkers } from './workers.ts';

export type Assembly = ReturnType<typeof assemble>;

export function assemble(
  options: ToolServerOptions,
  given: {
    readonly limits: ServerLimits;
    readonly redactor: Redactor;
    readonly trustsUserId: boolean;
    readonly publicUrl: () => string;
    readonly log: (line: string) => void;
  },
) {
  const { limits, redactor, publicUrl, log } = given;
  const { tools } = options;
  const toolsByName = new Map<string, Tool>(tools.map((tool) => [tool.name, tool]));
  const hook = hookRunner(log);
  const settings = { ...deliverySettings, ...options.delivery };
  const { dataDir, encryptionKey } = options;
  const store = dataDir === undefined ? createMemoryStore(encryptionKey) : openSqliteStore(dataDir, encryptionKey);
  const delivery = (isWorkers() ? createFetchDelivery : createCallbackDelivery)(settings.timeoutMs);
  const onRefusedEvent = (id: string, status: number): void => subscriptions.refused(id, status);
  const outbox = createOutbox({ store, delivery, settings, log, onRefusedEvent });
  const threads = createThreadStore(store, outbox);
  const ended = (subscription: Subscription): void =>
    void hook(`ended of ${subscription.tool}`, () => toolsByName.get(subscription.tool)?.ended?.(subscription));
  const subscriptions = createSubscriptions({ store, outbox, threads, limits, clean: redactor.clean, ended });
  const ledger = createCallLedger(store, outbox, log);
  const choices = createChoices(store);
  const providers = new Map<string, OAuthProvider>(tools.flatMap(({ oauth }) => (oauth ? [[oauth.name, oauth]] : [])));
  const { loginMsMax } = limits;
  const authorizations = createAuthorizations({ store, providers, publicUrl, loginMsMax, log });
  const stores = { ledger, outbox, subscriptions, choices, authorizations, threads };
  const isDurable = dataDir !== undefined;
  const calls = createCalls({ ...given, ...stores, tools: toolsByName, isDurable });
  const arrived = (subscription: Subscription): void =>
    void hook(`resume of ${subscription.tool}`, () => toolsByName.get(subscription.tool)?.resume?.(subscription));
  const { handoverKey: key } = options;
  const handover = key === undefined ? null : createHandover({ key, subscriptions, threads, arrived, log });
  const forget = (threadId: string): void => {
    threads.drop(threadId);
    for (const tool of tools) if (tool.forget) void hook(`forget of ${tool.name}`, () => tool.forget?.(threadId));
  };
  return {
    ...stores,
    calls,
    handover,
    providers,
    secret: (name: string) => storedSecret(store, name),
    /** Stores a call before it is acknowledged, unless it was taken before; returns the work to do after that. */
    take: (posted: PostedCall): (() => Promise<void>) =>
      store.transaction(() => {
        threads.seen(posted.groupId, posted.rootThreadId);
        const { isNew, call } = ledger.take(posted);
        return () => (isNew ? calls.run(call) : hook('repetition', () => ledger.repeat(call)));
      }),
    closeThread: (threadId: string) =>
      void hook('close_thread', () => {
        calls.closeThread(threadId);
        subscriptions.closeThread(threadId);
        forget(threadId);
      }),
    cancelToolCall: (threadId: string, toolCallId: string) =>
      void hook('cancel_tool_call', () => {
        subscriptions.cancel(threadId, toolCallId);
        calls.cancel(threadId, toolCallId);
      }),
    sweep: () =>
      void hook('sweep', () => {
        for (const store of [subscriptions, ledger, authorizations, choices]) store.sweep();
        for (const threadId of threads.silentSince(Date.now() - limits.threadMsMax)) forget(threadId);
      }),
    /** Of everything that is stored, into an existing directory. @throws Error for a server without `dataDir`. */
    copyInto: store.copyInto,
    /** Calls each tool with its live subscriptions. T26 */
    async resume() {
      for (const subscription of subscriptions.live()) {
        const work = async (): Promise<void> => toolsByName.get(subscription.tool)?.resume?.(subscription);
        await work().catch((error: unknown) => log(`resume of ${subscription.tool} failed: ${describeError(error)}`));
      }
    },
    /** Nothing is sent or stored afterwards. */
    async release() {
      subscriptions.release();
      await outbox.stop();
      delivery.close();
      store.close();
    },
  };
}

/** Runs the code of a tool's author; its failure is logged and affects nothing else. T35 */
function hookRunner(log: (line: string) => void): (what: string, work: () => unknown) => Promise<void> {
  return async (what, work) => {
    await (async () => work())().catch((error: unknown) => log(`${what} failed: ${describeError(error)}`));
  };
}

function storedSecret({ values, vault }: Store, name: string): string {
  const sealed = values.get(`secret ${name}`);
  if (sealed !== undefined) return String(vault.open('secret', sealed));
  const secret = randomBytes(24).toString('base64url');
  values.add(`secret ${name}`, vault.seal('secret', secret));
  return secret;
}

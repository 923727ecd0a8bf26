// The client API as plain functions over ports: one desk per noun, composed here. Knows no HTTP.
import type { Clock, Entropy, IdempotencyKeys, InputBus, Sealer, Stores, ToolTransport } from '@dormouse/ports';
import { type AgentDesk, createAgentDesk } from './registry/agents.ts';
import { createKeyDesk, type KeyDesk } from './access/api-keys.ts';
import { blobReader, type ReadBlob } from './read/blob-reader.ts';
import { type ChoiceDesk, createChoiceDesk } from './write/choices.ts';
import { requestNames } from './access/client-id.ts';
import { createEventDesk, type EventDesk } from './read/events.ts';
import { createFollowDesk, type FollowDesk } from './watch/follow.ts';
import { type Once, onceByKey } from './access/idempotency.ts';
import { createMessageDesk, type MessageDesk } from './write/messages.ts';
import { createParkedDesk, type ParkedDesk } from './write/parked.ts';
import { createProbe, type Probe } from './registry/probe.ts';
import { createReadableDesk, type ReadableDesk } from './read/readable-messages.ts';
import { createRequestDesk, type RequestDesk } from './write/requests.ts';
import { createSecretDesk, type SecretDesk } from './registry/secrets.ts';
import { createThreadLookup } from './write/thread-lookup.ts';
import { createThreadPartsDesk, type ThreadPartsDesk } from './read/thread-parts.ts';
import { createThreadTokens, type ThreadTokens } from './access/thread-token.ts';
import { createImportDesk, type ImportDesk } from './transfer/imports.ts';
import { createThreadDesk, type ThreadDesk } from './write/threads.ts';
import { createToolCallDesk, type ToolCallDesk } from './read/tool-calls.ts';
import { createToolServerDesk, type ToolServerDesk } from './registry/tool-servers.ts';
import { createTurnWait, type WatchTurn } from './watch/turn-wait.ts';

type IngressStores = Pick<
  Stores,
  | ('log' | 'snapshots' | 'directory' | 'parked' | 'ledger')
  | 'feed'
  | ('agents' | 'toolServers' | 'secrets' | 'apiKeys')
  | ('blobs' | 'views' | 'logins')
>;

export interface IngressPorts extends IngressStores {
  readonly bus: InputBus;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly transport: ToolTransport;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly sealer: Sealer;
  /** Signs thread tokens; the same in every process, kept out of every store. */
  readonly signingKey: Uint8Array;
}

export interface Ingress {
  readonly keys: KeyDesk;
  readonly tokens: ThreadTokens;
  readonly once: Once;
  readonly agents: AgentDesk;
  readonly secrets: SecretDesk;
  readonly toolServers: ToolServerDesk;
  readonly probe: Probe;
  readonly threads: ThreadDesk;
  readonly messages: MessageDesk;
  readonly watchTurn: WatchTurn;
  readonly readable: ReadableDesk;
  readonly requests: RequestDesk;
  readonly choices: ChoiceDesk;
  readonly toolCalls: ToolCallDesk;
  readonly events: EventDesk;
  readonly follow: FollowDesk;
  readonly parked: ParkedDesk;
  readonly parts: ThreadPartsDesk;
  readonly imports: ImportDesk;
  readonly blob: ReadBlob;
}

export function createIngress(given: IngressPorts): Ingress {
  const ports = { ...given, threads: createThreadLookup(given), mintName: requestNames(given) };
  const watchTurn = createTurnWait(ports);
  return {
    keys: createKeyDesk(ports),
    tokens: createThreadTokens(ports),
    once: onceByKey(ports),
    agents: createAgentDesk(ports),
    secrets: createSecretDesk(ports),
    toolServers: createToolServerDesk(ports),
    probe: createProbe(ports),
    threads: createThreadDesk(ports),
    messages: createMessageDesk(ports),
    watchTurn: (key, withinMs, signal) => watchTurn(ports.threads.keyOf(key), withinMs, signal),
    readable: createReadableDesk(ports),
    requests: createRequestDesk(ports),
    choices: createChoiceDesk(ports),
    toolCalls: createToolCallDesk(ports),
    events: createEventDesk(ports),
    follow: createFollowDesk(ports),
    parked: createParkedDesk(ports),
    parts: createThreadPartsDesk(ports),
    imports: createImportDesk(ports),
    blob: blobReader(ports),
  };
}

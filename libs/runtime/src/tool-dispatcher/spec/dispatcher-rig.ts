// A rig for specs of what goes out: one memory world, tool servers with scripted answers, and the resulting inputs.
import { canonicalJson } from '@dormouse/json';
import {
  createManualClock,
  createMemoryWorld,
  createSeededEntropy,
  type ManualClock,
  type MemoryPorts,
  type MemoryWorld,
} from '@dormouse/adapter-memory';
import {
  type FetchOutcome,
  type InputBus,
  type LogFields,
  type Logger,
  type SendOutcome,
  type SendRequest,
  type Span,
  type ThreadKey,
  type ToolServer,
  type WorkTopics,
  isThreadInput,
  tenantId,
} from '@dormouse/ports';
import type { InvokeTool, RecordedEvent, ThreadInput } from '@dormouse/thread';
import { createHash } from 'node:crypto';
import { createCallbackTokens, type CallbackTokens } from '../../callback-gateway/callback-token.ts';
import { sealCommit } from '../../log/envelope.ts';
import type { Service } from '../../service.ts';
import type { DispatcherSettings } from '../settings.ts';
import type { Holding } from '../../tenants/holding.ts';
import { createToolDispatcher } from '../tool-dispatcher.ts';

export const key: ThreadKey = { tenant: tenantId('acme'), thread: 'thr_1' };

export type Answer =
  SendOutcome | Promise<SendOutcome> | ((request: SendRequest) => SendOutcome | Promise<SendOutcome>);

export const status = (code: number, retryAfterMs: number | null = null): SendOutcome => ({
  sent: true,
  status: code,
  retryAfterMs,
});
export const broken = (code: string, reached: boolean): SendOutcome => ({
  sent: false,
  reached,
  code,
  detail: `it says ${code}`,
});
export const never: Promise<SendOutcome> = new Promise(() => {});

export interface Peer {
  readonly posts: SendRequest[];
  readonly at: number[];
  readonly gets: string[];
  /** Answers in order; the last one repeats. */
  answers: Answer[];
  manifest: object | string | FetchOutcome;
}

export interface Rig {
  readonly clock: ManualClock;
  readonly world: MemoryWorld;
  readonly ports: MemoryPorts;
  readonly tokens: CallbackTokens;
  readonly inputs: ThreadInput[];
  readonly lines: { readonly event: string; readonly fields: LogFields }[];
  readonly logger: Logger;
  /** Of calls that are owed with an `agent`. */
  readonly spans: readonly Span[];
  /** Set to make the next publications fail. */
  publishFails: Error | null;
  readonly inputBus: InputBus;
  register(name: string, fields?: Partial<ToolServer>): Promise<Peer>;
  /** Stores the manifest as the server's and answers its hash. */
  store(manifest: object): Promise<string>;
  /** Appends a commit that has decided this input. */
  decide(input: string): Promise<void>;
  dispatcher(
    settings?: Partial<DispatcherSettings>,
    ports?: Partial<MemoryPorts> & { readonly holding?: Holding },
  ): Promise<Service>;
  /** Hands a debt to the work bus; resolves to a flag that turns true when it was paid. */
  owe(
    effect: WorkTopics['dispatches']['effect'],
    fields?: { readonly trace?: string; readonly thread?: string; readonly agent?: string },
  ): Promise<{ paid: boolean }>;
}

export const weather = {
  name: 'weather',
  endpoint: 'https://weather.example/rap/invoke',
  toolset_version: '1',
  tools: [
    {
      name: 'forecast',
      description: 'The weather',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
    },
  ],
};

const opened: RecordedEvent = { type: 'ThreadClosed', by: 'a spec', turnId: 't', cause: { kind: 'request', id: 'c' } };

export const sha256Of = (manifest: object): string =>
  createHash('sha256').update(canonicalJson(manifest)).digest('hex');

export function invoke(fields: Partial<InvokeTool> = {}): InvokeTool {
  return {
    do: 'InvokeTool',
    id: 'call_1',
    toolCallId: 'call_1',
    toolServer: 'weather',
    toolsetSha256: sha256Of(weather),
    operation: 'forecast',
    arguments: { city: 'Zürich ☃', days: 3 },
    providerCallId: 'toolu_7',
    userId: 'ada',
    delivery: 'at_least_once',
    callbackExpiresAt: null,
    ...fields,
  };
}

export function createRig(): Rig {
  const clock = createManualClock();
  const world = createMemoryWorld({ clock });
  const ports = world.ports('dispatcher');
  const inputs: ThreadInput[] = [];
  const lines: { event: string; fields: LogFields }[] = [];
  const spans: Span[] = [];
  const tracer = { isOn: true, isSampled: () => true, record: (span: Span) => void spans.push(span) };
  const say = (event: string, fields: LogFields = {}): void => void lines.push({ event, fields });
  let lives = 0;
  const tokens = createCallbackTokens({
    keys: [{ id: 'k1', secret: Buffer.alloc(32, 7), since: 0, revoked: false }],
    publicBase: 'https://agents.example/hooks/',
  });
  const rig: Rig = {
    clock,
    world,
    ports,
    tokens,
    inputs,
    lines,
    spans,
    logger: { info: say, warn: say, error: say },
    publishFails: null,
    inputBus: {
      publish: async (_key, input) => {
        if (rig.publishFails !== null) throw rig.publishFails;
        if (isThreadInput(input)) inputs.push(input);
      },
      consume: (consumer) => ports.inputs.consume(consumer),
    },
    async register(name, fields = {}) {
      const baseUrl = fields.baseUrl ?? `https://${name}.example`;
      await ports.toolServers.insert({
        tenant: key.tenant,
        id: `tsv_${name}`,
        name,
        createdAt: 0,
        updatedAt: 0,
        baseUrl,
        endpointOverride: null,
        auth: null,
        forwardUserId: false,
        trustAnnotations: false,
        pinnedSha256: null,
        paused: false,
        ...fields,
      });
      return join(rig, new URL(baseUrl).origin);
    },
    async store(manifest) {
      const sha256 = sha256Of(manifest);
      await ports.toolsets.put({ tenant: key.tenant, sha256, manifest: canonicalJson(manifest) });
      return sha256;
    },
    async decide(input) {
      const commit = sealCommit({
        key,
        version: 0,
        inputs: [input],
        at: 1,
        nonce: 'n',
        trace: null,
        prev: '',
        events: [opened],
        effects: [],
      });
      await ports.log.append([{ commit, owes: false }]);
    },
    async dispatcher(settings, other) {
      const service = createToolDispatcher({
        ...ports,
        ...other,
        inputs: rig.inputBus,
        callbackTokens: tokens,
        clock,
        entropy: createSeededEntropy(1, `life${(lives += 1)}`),
        logger: rig.logger,
        tracing: { tracer, wallNow: () => clock.now(), turnMsMax: 1 },
        settings: settings ?? {},
      });
      await service.start();
      return service;
    },
    async owe(
      effect,
      {
        trace = null,
        thread = key.thread,
        agent,
      }: { readonly trace?: string | null; readonly thread?: string; readonly agent?: string } = {},
    ) {
      const owed = { tenant: key.tenant, thread, effect, at: 1_000, trace, ...(agent === undefined ? {} : { agent }) };
      const receipt = await ports.work.publish('dispatches', owed);
      const debt = { paid: false };
      void receipt.handled?.then(() => (debt.paid = true));
      await clock.advance(0);
      return debt;
    },
  };
  return rig;
}

/** A tool server on the memory network. */
export function join({ world, clock }: Pick<Rig, 'world' | 'clock'>, origin: string): Peer {
  const peer: Peer = { posts: [], at: [], gets: [], answers: [status(200)], manifest: weather };
  world.durable.network.set(origin, {
    post: async (request) => {
      peer.posts.push(request);
      peer.at.push(clock.now());
      const answer = peer.answers.length > 1 ? peer.answers.shift() : peer.answers[0];
      const outcome = typeof answer === 'function' ? answer(request) : answer;
      const aborted = new Promise<SendOutcome>((resolve) => {
        request.signal?.addEventListener('abort', () => resolve(broken('ABORTED', true)));
      });
      return Promise.race([outcome ?? status(200), aborted]);
    },
    get: async ({ url }) => {
      peer.gets.push(url);
      const { manifest } = peer;
      if (typeof manifest === 'object' && 'ok' in manifest) return manifest;
      return { ok: true, status: 200, body: typeof manifest === 'string' ? manifest : JSON.stringify(manifest) };
    },
  });
  return peer;
}

import { createManualClock, createMemoryWorld } from '@dormouse/adapter-memory';
import { tenantId, type Toolsets } from '@dormouse/ports';
import {
  defaultLimits,
  defaultPolicies,
  extendTranscript,
  type LoadedToolset,
  type Thread,
  unopenedThread,
} from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { TranscriptWindow } from '../state/transcript-window.ts';
import { type CompletionOrder, createRequestBuilder, type RequestBuilder } from './completion-request.ts';

const acme = tenantId('acme');

const toolset: LoadedToolset = {
  ...{ toolServer: 'tools', name: 'Tools', sha256: 'hash', tools: ['weather'] },
  ...{ destructive: [], atMostOnce: [], stale: false },
};

const model = {
  ...{ provider: 'demo', name: '', baseUrl: null, apiKeySecret: null, parameters: {} },
  ...{ contextWindowTokens: 1, outputTokensMax: null, images: true },
};
const parent = { ...unopenedThread(acme, 'thr_1'), agent: { name: 'a', version: 1 }, toolsets: [toolset] };
const child = { ...parent, id: 'thr_2', parent: { threadId: 'thr_1', position: 0 }, ancestors: ['thr_1'] };

const orderOf = (thread: Thread): CompletionOrder => ({
  ...{ completionId: 'cmp_1', thread, messages: new TranscriptWindow(0, 1_000), promptLength: 0 },
});

/** An agent and its tools are registered; `reads` are those of manifests, each of which lasts an event-loop tick. */
async function registered(
  hashes: readonly string[] = ['hash'],
): Promise<RequestBuilder & { readonly reads: string[] }> {
  const ports = createMemoryWorld({ clock: createManualClock() }).ports('p1');
  const manifest = JSON.stringify({ tools: [{ name: 'weather', description: 'w', inputSchema: {} }] });
  for (const sha256 of hashes) await ports.toolsets.put({ tenant: acme, sha256, manifest });
  await ports.agents.insert({
    ...{ tenant: acme, id: 'agt_1', name: 'a', version: 1, createdAt: 0, instructions: '', model },
    ...{ toolServers: ['tools'], policies: defaultPolicies, limits: defaultLimits, contentSha256: '' },
  });
  const reads: string[] = [];
  const get: Toolsets['get'] = async (tenant, sha256) => {
    reads.push(sha256);
    await new Promise(setImmediate);
    return ports.toolsets.get(tenant, sha256);
  };
  const builder = createRequestBuilder({
    ...ports,
    toolsets: { ...ports.toolsets, get },
    folds: { extendTranscript },
    settings: { loadPageCommits: 10, historyBytesMax: 1_000_000 },
  });
  return { ...builder, reads };
}

const { signal } = new AbortController();

describe('what the model is offered', () => {
  it('a child has its parent’s list of toolsets, the very same object, and its own tools beside it', async () => {
    const { build } = await registered();
    const offeredTo = async (thread: Thread): Promise<readonly string[]> =>
      (await build(orderOf(thread), signal)).tools.map(({ name }) => name);
    expect(await offeredTo(parent)).not.toContain('report_to_parent');
    expect(await offeredTo(child)).toEqual(expect.arrayContaining(['weather', 'report_to_parent', 'close_thread']));
  });

  it('is read once, also where more is read at a time than is remembered', async () => {
    const hashes = Array.from({ length: 1_200 }, (_, index) => `hash ${index}`);
    const { build, reads } = await registered(hashes);
    const threads = hashes.slice(600).map((sha256, index) => ({
      ...parent,
      toolsets: [
        { ...toolset, sha256 },
        { ...toolset, sha256: hashes[index] ?? '' },
      ],
    }));
    await Promise.all(threads.map((thread) => build(orderOf(thread), signal)));
    expect(reads.toSorted()).toEqual(hashes.toSorted());
  });
});

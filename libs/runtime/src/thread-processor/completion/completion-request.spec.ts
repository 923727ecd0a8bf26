import { createManualClock, createMemoryWorld } from '@dormouse/adapter-memory';
import { defaultLimits, defaultPolicies, extendTranscript, type LoadedToolset, unopenedThread } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { TranscriptWindow } from '../transcript-window.ts';
import { createRequestBuilder } from './completion-request.ts';

const toolset: LoadedToolset = {
  ...{ toolServer: 'tools', name: 'Tools', sha256: 'hash', tools: ['weather'] },
  ...{ destructive: [], atMostOnce: [], stale: false },
};

describe('what the model is offered', () => {
  it('a child has its parent’s list of toolsets, the very same object, and its own tools beside it', async () => {
    const ports = createMemoryWorld({ clock: createManualClock() }).ports('p1');
    const manifest = JSON.stringify({ tools: [{ name: 'weather', description: 'w', inputSchema: {} }] });
    await ports.toolsets.put({ tenant: 'acme', sha256: 'hash', manifest });
    const model = { provider: 'demo', name: '', baseUrl: null, apiKeySecret: null, parameters: {} };
    await ports.agents.insert({
      ...{ tenant: 'acme', id: 'agt_1', name: 'a', version: 1, createdAt: 0, instructions: '' },
      model: { ...model, contextWindowTokens: 1, outputTokensMax: null, images: true },
      ...{ toolServers: ['tools'], policies: defaultPolicies, limits: defaultLimits, contentSha256: '' },
    });
    const { build } = createRequestBuilder({
      ...ports,
      folds: { extendTranscript },
      settings: { loadPageCommits: 10, historyBytesMax: 1_000_000 },
    });
    const toolsets = [toolset];
    const parent = { ...unopenedThread('acme', 'thr_1'), agent: { name: 'a', version: 1 }, toolsets };
    const child = { ...parent, id: 'thr_2', parent: { threadId: 'thr_1', position: 0 }, ancestors: ['thr_1'] };
    const offeredTo = async (thread: typeof parent | typeof child): Promise<readonly string[]> => {
      const order = { completionId: 'cmp_1', thread, messages: new TranscriptWindow(0, 1_000), promptLength: 0 };
      const { tools } = await build(order, new AbortController().signal);
      return tools.map(({ name }) => name);
    };
    expect(await offeredTo(parent)).not.toContain('report_to_parent');
    expect(await offeredTo(child)).toEqual(expect.arrayContaining(['weather', 'report_to_parent', 'close_thread']));
  });
});

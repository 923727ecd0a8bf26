// What the model is asked: the thread's agent version, its tools, and its prompt. Registrations are immutable by version and
// by hash, so they are remembered; a warm completion reads nothing.
import {
  type Agent,
  type Agents,
  Fault,
  type ModelConfig,
  type ModelRequest,
  type ToolDefinition,
  type Toolsets,
} from '@dormouse/ports';
import { inheritsFrom, type LoadedToolset, offeredBuiltIns, type Thread } from '@dormouse/thread';
import type { TranscriptWindow } from '../transcript-window.ts';
import { Histories } from './histories.ts';
import { joinedPrompts, type PromptSources, promptOf } from './prompt.ts';

export interface CompletionOrder {
  readonly completionId: string;
  /** At the end of the commits that are being paid. */
  readonly thread: Thread;
  readonly messages: TranscriptWindow;
  /** Messages of the prompt. */
  readonly promptLength: number;
  /** True while the last of them are not in the log: what is not in memory cannot be had then. */
  readonly isAhead?: boolean;
}

export interface RequestSources extends PromptSources {
  readonly settings: PromptSources['settings'] & { readonly historyBytesMax: number };
  readonly agents: Agents;
  readonly toolsets: Toolsets;
}

export type BuildRequest = (order: CompletionOrder, signal: AbortSignal) => Promise<ModelRequest>;

export interface RequestBuilder {
  readonly build: BuildRequest;
  /** Which model this thread asks, when that is remembered. */
  modelOf(thread: Thread): ModelConfig | null;
}

/** Entries that are remembered of each kind. */
const rememberedMax = 1_000;

export function createRequestBuilder(sources: RequestSources): RequestBuilder {
  const agents = new Map<string, Agent>();
  const manifests = new Map<string, readonly ToolDefinition[]>();
  const histories = new Histories(sources, sources.settings.historyBytesMax);
  /** By the thread's own list, which is the same object for as long as the state is cached; a child, which is offered more, may
   * have that of its parent. */
  const offered = {
    root: new WeakMap<readonly LoadedToolset[], readonly ToolDefinition[]>(),
    child: new WeakMap<readonly LoadedToolset[], readonly ToolDefinition[]>(),
  };

  const agentKey = ({ tenant, agent }: Thread): string => `${tenant}:${agent.name}:${agent.version}`;

  async function readAgent(thread: Thread): Promise<Agent> {
    const { name, version } = thread.agent;
    return remembered(agents, agentKey(thread), async () => {
      const agent = await sources.agents.version(thread.tenant, name, version);
      if (agent === null) throw new Fault('STATE_UNAVAILABLE', `agent ${name} version ${version} is missing`);
      return agent;
    });
  }

  const offersOf = (thread: Thread): WeakMap<readonly LoadedToolset[], readonly ToolDefinition[]> =>
    thread.parent === null ? offered.root : offered.child;

  async function readDefinitions(thread: Thread): Promise<readonly ToolDefinition[]> {
    const definitions: ToolDefinition[] = [];
    for (const toolset of thread.toolsets) {
      const all = await remembered(manifests, `${thread.tenant}:${toolset.sha256}`, () =>
        readManifest(sources.toolsets, thread.tenant, toolset),
      );
      definitions.push(...all.filter((definition) => toolset.tools.includes(definition.name)));
    }
    definitions.push(...offeredBuiltIns(thread));
    offersOf(thread).set(thread.toolsets, definitions);
    return definitions;
  }

  const build: BuildRequest = async (order, signal) => {
    const { thread, messages, promptLength, isAhead = false } = order;
    const agent = agents.get(agentKey(thread)) ?? (await readAgent(thread));
    const tools = offersOf(thread).get(thread.toolsets) ?? (await readDefinitions(thread));
    const own = promptOf(sources, { tenant: thread.tenant, thread: thread.id }, messages, promptLength, isAhead);
    const origin = inheritsFrom(thread);
    const by = thread.parent === null ? 'fork' : 'child';
    return {
      tenant: thread.tenant,
      thread: thread.id,
      completionId: order.completionId,
      ordinal: Math.max(0, thread.completions - 1),
      model: agent.model,
      instructions: agent.instructions,
      prompt: origin === null ? own : joinedPrompts(await histories.upTo(thread.tenant, { at: origin, by }), own),
      tools,
      signal,
    };
  };

  return { build, modelOf: (thread) => agents.get(agentKey(thread))?.model ?? null };
}

/** Only positive answers are remembered; the oldest goes first. */
async function remembered<T>(known: Map<string, T>, key: string, read: () => Promise<T>): Promise<T> {
  const hit = known.get(key);
  if (hit !== undefined) return hit;
  const value = await read();
  for (const oldest of known.keys()) {
    if (known.size < rememberedMax) break;
    known.delete(oldest);
  }
  known.set(key, value);
  return value;
}

interface Manifest {
  readonly tools: readonly {
    readonly name: string;
    readonly description?: string;
    readonly inputSchema: Readonly<Record<string, unknown>>;
  }[];
}

async function readManifest(
  toolsets: Toolsets,
  tenant: string,
  toolset: LoadedToolset,
): Promise<readonly ToolDefinition[]> {
  const stored = await toolsets.get(tenant, toolset.sha256);
  if (stored === null)
    throw new Fault('STATE_UNAVAILABLE', `manifest ${toolset.sha256} of ${toolset.toolServer} is missing`);
  const manifest = JSON.parse(stored.manifest) as Manifest; // found valid when it was stored
  return manifest.tools.map(({ name, description, inputSchema }) => ({
    name,
    description: description ?? '',
    inputSchema,
  }));
}

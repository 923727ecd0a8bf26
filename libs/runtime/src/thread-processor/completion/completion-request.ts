// Builds the request to the model: the thread's agent version, its tools, and its prompt. Registrations are immutable
// by version and by hash, so they are remembered; a warm completion reads nothing.
import { type BoundedMap, createBoundedMap } from '@dormouse/collections';
import { type Agent, Fault, type ModelRequest, type Stores, type ToolDefinition } from '@dormouse/ports';
import { inheritsFrom, type LoadedToolset, offeredBuiltIns, type Thread } from '@dormouse/thread';
import type { TranscriptWindow } from '../state/transcript-window.ts';
import { readDefinitions } from '../../toolset-definitions.ts';
import { Histories } from './histories.ts';
import { joinedPrompts, type PromptSources, promptOf } from './prompt.ts';

export interface CompletionOrder {
  readonly completionId: string;
  /** At the end of the commits that are being paid. */
  readonly thread: Thread;
  readonly messages: TranscriptWindow;
  readonly promptLength: number;
}

export interface RequestSources extends PromptSources, Pick<Stores, 'agents' | 'toolsets'> {
  readonly settings: PromptSources['settings'] & { readonly historyBytesMax: number };
}

export type BuildRequest = (order: CompletionOrder, signal: AbortSignal) => Promise<ModelRequest>;

export interface RequestBuilder {
  readonly build: BuildRequest;
  /** @throws Fault */
  agentOf(thread: Thread): Promise<Agent>;
  /** The tools that its model is offered. @throws Fault */
  toolsOf(thread: Thread): Promise<readonly ToolDefinition[]>;
  /** Where its model is asked. Empty where that cannot be read now: asking will fail too, and try again. */
  endpointOf(thread: Thread): Promise<string>;
}

/** Entries that are remembered of each kind. */
const rememberedMax = 1_000;

export function createRequestBuilder(sources: RequestSources): RequestBuilder {
  const agents = createBoundedMap<Agent>(rememberedMax);
  const manifests = createBoundedMap<readonly ToolDefinition[]>(rememberedMax);
  const histories = new Histories(sources, sources.settings.historyBytesMax);
  /** By the thread's own list, the same object for as long as the state is cached; a child, which is offered more, may
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

  const manifestKey = ({ tenant }: Thread, { sha256 }: LoadedToolset): string => `${tenant}:${sha256}`;

  /** Null where a manifest would have to be read. */
  function knownTools(thread: Thread): readonly ToolDefinition[] | null {
    const known = offersOf(thread).get(thread.toolsets);
    if (known !== undefined) return known;
    const listed = thread.toolsets.map((toolset) => manifests.get(manifestKey(thread, toolset)));
    return listed.every((all) => all !== undefined) ? offer(thread, listed) : null;
  }

  async function readTools(thread: Thread): Promise<readonly ToolDefinition[]> {
    const listed: (readonly ToolDefinition[])[] = [];
    for (const toolset of thread.toolsets)
      listed.push(
        await remembered(manifests, manifestKey(thread, toolset), () =>
          readDefinitions(sources.toolsets, thread.tenant, toolset),
        ),
      );
    return offer(thread, listed);
  }

  /** `listed` is what each of its manifests lists. */
  function offer(thread: Thread, listed: readonly (readonly ToolDefinition[])[]): readonly ToolDefinition[] {
    const definitions = thread.toolsets.flatMap(({ tools }, index) =>
      (listed[index] ?? []).filter(({ name }) => tools.includes(name)),
    );
    definitions.push(...offeredBuiltIns(thread));
    offersOf(thread).set(thread.toolsets, definitions);
    return definitions;
  }

  const build: BuildRequest = async (order, signal) => {
    const { completionId, thread, messages, promptLength } = order;
    const { tenant, id } = thread;
    const { model, instructions } = agents.get(agentKey(thread)) ?? (await readAgent(thread));
    const tools = knownTools(thread) ?? (await readTools(thread));
    const own = promptOf(sources, { tenant, thread: id }, messages, promptLength);
    const origin = inheritsFrom(thread);
    const by = thread.parent === null ? 'fork' : 'child';
    const prompt = origin === null ? own : joinedPrompts(await histories.upTo(tenant, { at: origin, by }), own);
    const ordinal = Math.max(0, thread.completions - 1);
    return { tenant, thread: id, completionId, ordinal, model, instructions, prompt, tools, signal };
  };

  return {
    build,
    agentOf: readAgent,
    toolsOf: async (thread) => knownTools(thread) ?? (await readTools(thread)),
    endpointOf: (thread) => readAgent(thread).then(endpointOf, () => ''),
  };
}

const endpointOf = ({ model: { provider, baseUrl } }: Agent): string => `${provider} ${baseUrl ?? ''}`;

/** Only positive answers are remembered. */
async function remembered<T>(known: BoundedMap<T>, key: string, read: () => Promise<T>): Promise<T> {
  return known.get(key) ?? known.set(key, await read());
}

// Looks, while a chat is open, whether its tool servers have other tools than its thread has loaded.
//
// Invariants:
//   W1. Each change is told once. The thread keeps its tools until it is told to load them anew.
//   W2. A key that may not probe, and a server that does not answer, are no reason to disturb the chat.
import { ApiProblem, ask, type Client, isEvent, type StreamFrame, toolsetChange } from '@dormouse/client';

const firstMs = 1_000;
const everyMs = 15_000;

interface Toolset {
  readonly tool_server: string;
  readonly sha256: string;
  readonly tools: readonly string[];
}

export interface ToolsetWatch {
  /** Learns which tools the thread has. */
  readonly see: (frame: StreamFrame) => void;
  readonly stop: () => void;
}

export function watchToolsets(client: Client, loaded: readonly Toolset[], tell: (line: string) => void): ToolsetWatch {
  const known = new Map(loaded.map((toolset) => [toolset.tool_server, toolset]));
  const told = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function look(): Promise<void> {
    for (const { tool_server: server, sha256, tools } of [...known.values()]) {
      const params = { path: { name: server }, query: { credential: 'skip' as const } };
      const now = await ask(client.api.POST('/v1/tool-servers/{name}/probe', { params }));
      if (isStopped || !now.ok || now.sha256 === null || now.sha256 === sha256 || told.get(server) === now.sha256)
        continue;
      told.set(server, now.sha256); // (W1)
      tell(`${server} has other tools now: ${toolsetChange(tools, now.toolset)}. /refresh takes them.`);
    }
  }

  const again = (ms: number): void => {
    timer = setTimeout(() => {
      look().then(
        () => again(everyMs),
        (error: unknown) => {
          if (!(error instanceof ApiProblem && error.status === 403)) again(everyMs); // (W2)
        },
      );
    }, ms).unref();
  };
  again(firstMs);
  return {
    see(frame) {
      if (frame.frame !== 'event' || !isEvent(frame.event, 'toolsets_loaded')) return;
      for (const toolset of frame.event.toolsets) known.set(toolset.tool_server, toolset);
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

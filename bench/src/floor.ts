// The contestant without a runtime: the limit of the machine, the HTTP libraries and the writer. Runs on request only.
import { join } from 'node:path';
import { startNode } from './child-process.ts';
import { freePort } from '../../test/services/free-ports.ts';
import { type Contestant, oneToolTurn } from './contestant.ts';
import { startFlags } from './dormouse.ts';

const script = join(import.meta.dirname, '..', 'floor', 'floor.ts');
const headers = { 'content-type': 'application/json' };

export const floor: Contestant = {
  name: 'floor',
  is: 'the requests of a turn and its two commits through the same writer, and nothing else: no runtime',
  durable: 'every commit, before it is acknowledged',
  start: async ({ tools, directory }) => {
    const port = await freePort();
    const args = ['--tools', tools, '--port', String(port), '--data', join(directory, 'data')];
    const child = await startNode('floor', script, directory, { args, nodeFlags: startFlags, ready: /^ready$/m });
    const base = `http://127.0.0.1:${port}`;
    const open = async (): Promise<string> => {
      const answer = await fetch(`${base}/threads`, { method: 'POST' });
      const { id } = (await answer.json()) as { readonly id: string };
      return `${base}/threads/${id}/messages`;
    };
    return {
      name: 'floor',
      pids: [child.pid],
      openThreads: async (count) => {
        const targets = [];
        for (let opened = 0; opened < count; opened++) targets.push({ ...oneToolTurn, url: await open(), headers });
        return targets;
      },
      stop: async () => {
        await child.stop(5_000);
      },
    };
  },
};

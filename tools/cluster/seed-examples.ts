// The example tool server and its agent, registered through the API; a second run changes nothing.
import { setTimeout as sleep } from 'node:timers/promises';

const triesMax = 5;

export async function seedExamples(url: string, key: string, tools: string): Promise<void> {
  const call = async (method: string, path: string, body?: object): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await fetch(url + path, sent);
        await answer.arrayBuffer(); // read to its end: an aborted one would close the connection under the next request
        return answer.status;
      } catch (error) {
        const { message, cause } = error as Error;
        if (tries === triesMax) throw new Error(`${method} ${path}: ${message} (${String(cause)})`, { cause });
        await sleep(tries * 100);
      }
    }
  };
  const server = (await call('GET', '/v1/tool-servers/example-tools')) === 200;
  const registered = server
    ? await call('PATCH', '/v1/tool-servers/example-tools', { base_url: tools })
    : await call('POST', '/v1/tool-servers', { name: 'example-tools', base_url: tools });
  const agent = await call('POST', '/v1/agents', {
    name: 'assistant',
    instructions: 'You are a helpful assistant. Use your tools when they help.',
    model: { provider: 'demo' },
    tool_servers: ['example-tools'],
  });
  if (registered >= 300 || agent >= 300) throw new Error(`the examples could not be set up (${registered}, ${agent})`);
}

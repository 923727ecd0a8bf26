// The example tool server and the agent that uses it, registered through the API; again changes nothing.

export async function seedExamples(url: string, key: string, tools: string): Promise<void> {
  const call = async (method: string, path: string, body?: object): Promise<number> => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await answer.body?.cancel();
    return answer.status;
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

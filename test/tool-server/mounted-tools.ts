// The tool server that the specs mount in web frameworks.
import { createToolServer, defineTool, type ToolServer } from '@dormouse/tool-server';
import { z } from 'zod';

export const bearer = 'a shared secret';

export function toolServer(): Promise<ToolServer> {
  const echo = defineTool(
    { name: 'echo', description: 'Says it again.', input: z.strictObject({ text: z.string() }) },
    ({ text }) => text,
  );
  return createToolServer({ name: 'mounted', tools: [echo], auth: { bearer }, log: () => {} });
}

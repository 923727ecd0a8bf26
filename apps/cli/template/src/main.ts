// Serves the tools. PORT and HOST say where; BEARER is the credential that a runtime needs, DATA_DIR keeps calls and
// subscriptions over a restart, PUBLIC_URL is the address that runtimes use where it is another one.
import { serve } from '@dormouse/tool-server';
import { tools } from './tools.js';

const { PORT = '7431', HOST = '127.0.0.1', BEARER, DATA_DIR, PUBLIC_URL } = process.env;

try {
  const server = await serve({
    name: 'stocks',
    tools,
    port: Number(PORT),
    host: HOST,
    ...(BEARER ? { auth: { bearer: BEARER } } : {}),
    ...(DATA_DIR ? { dataDir: DATA_DIR } : {}),
    ...(PUBLIC_URL ? { publicUrl: PUBLIC_URL } : {}),
  });
  console.log(`ready ${server.url}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

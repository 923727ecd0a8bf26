// An Express app with a tool server inside, in a process of its own: what Express requires is not found under the
// export conditions of specs. Prints `ready <url>`.
import type { AddressInfo } from 'node:net';
import { toFetchHandler } from '@dormouse/tool-server';
import express from 'express';
import { toolServer } from '../mounted-tools.ts';

const app = express();
const handler = toFetchHandler(await toolServer(), { basePath: '/tools' });
app.use('/tools', express.raw({ type: () => true, limit: '2mb' }), async (request, response) => {
  const { method, originalUrl, headers, body } = request;
  const given = { method, headers, ...(body instanceof Buffer ? { body } : {}) } as RequestInit;
  const answer = await handler(new Request(`http://${headers.host}${originalUrl}`, given));
  response.status(answer.status).set(Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
});
app.use(express.json()); // of the routes that follow
app.get('/', (_request, response) => void response.send('the app'));
const server = app.listen(0, '127.0.0.1', () => {
  console.log(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('disconnect', () => process.exit()); // the spec has ended

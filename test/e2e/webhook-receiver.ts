// An endpoint of a customer: takes deliveries over real HTTP, keeps their bytes, and answers as it is told to.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { eventually } from './conversation.ts';
import type { Json } from './standalone-process.ts';

export interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly id: string;
  /** The bytes, as text. */
  readonly text: string;
  readonly body: Json;
}

export type Answering = (response: ServerResponse, posted: Posted) => void;

export interface WebhookReceiver {
  readonly url: string;
  readonly posts: readonly Posted[];
  /** How it answers from now on. */
  answers(answering: Answering): void;
  /** Waits until so many came, and gives them. */
  came(count: number): Promise<readonly Posted[]>;
  close(): Promise<void>;
}

export const answerWith =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answering =>
  (response) =>
    void response.writeHead(status, headers).end();

/** It never answers. */
export const hang: Answering = () => {};

const receivers = new Set<WebhookReceiver>();

export async function startReceiver(answering: Answering = answerWith(204)): Promise<WebhookReceiver> {
  const posts: Posted[] = [];
  let current = answering;
  const server = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      const text = bytes.toString('utf8');
      const { url: path = '', headers } = request;
      const posted = { path, headers, id: String(headers['webhook-id']), text, body: JSON.parse(text) };
      posts.push(posted);
      current(response, posted);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?of=customer`,
    posts,
    answers: (next) => {
      current = next;
    },
    came: (count) => eventually(async () => posts.length >= count && posts),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  receivers.add(receiver);
  return receiver;
}

/** Ends those that a spec file started. */
export async function endReceivers(): Promise<void> {
  await Promise.all([...receivers].map((receiver) => receiver.close()));
  receivers.clear();
}

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Frame } from '@dormouse/runtime';
import { fastify } from 'fastify';
import { beforeEach, describe, expect, it } from 'vitest';
import { registerEventRoute } from './event-route.ts';
import { HttpProblem } from '../problems/problem.ts';

/** As the guarantees say. */
const seatsOfTenant = 1_000;

/** A read that returns its result only after `open()`. */
const slowly = <Result>(result: Result) => {
  const gate = Promise.withResolvers<void>();
  return { open: () => gate.resolve(), read: async (): Promise<Result> => gate.promise.then(() => result) };
};

const caller = { tenant: 'acme', name: 'ops', scopes: ['read'], rate: {}, only: null };

describe('streams of events', () => {
  let identifying: { open(): void; read(): Promise<unknown> };
  let opening: { open(): void; read(): Promise<unknown> };
  let signals: AbortSignal[];
  let streaming: number;
  let emit: (request: IncomingMessage, response: ServerResponse) => void;

  async function* frames(signal: AbortSignal): AsyncGenerator<Frame> {
    streaming++;
    yield { frame: 'status', data: { status: 'idle', waitingOn: [] } };
    await new Promise((resolve) => (signal.aborted ? resolve(null) : signal.addEventListener('abort', resolve)));
    streaming--;
  }

  beforeEach(async () => {
    [identifying, opening, signals, streaming] = [slowly(caller), slowly(null), [], 0];
    const server = fastify();
    server.setErrorHandler((error, _request, reply) => void reply.status((error as HttpProblem).status).send());
    registerEventRoute(server, {
      doorkeeper: { admit: () => {}, identify: () => identifying.read() as never, authorize: async () => {} },
      ingress: {
        limits: {
          learn: async () => {},
          streamsFull: (_tenant: string, here: number) => (here < seatsOfTenant ? null : seatsOfTenant),
          streamsHere: () => {},
        },
        watchCredential: () => ({ signal: new AbortController().signal, stop: () => {} }),
        follow: {
          async follow(_key: unknown, _after: number, signal: AbortSignal) {
            signals.push(signal);
            await opening.read();
            return { ok: true, value: frames(signal) };
          },
        },
      } as never,
      clock: { now: () => 0 } as never,
      stopping: new AbortController().signal,
    });
    await server.ready();
    emit = (request, response) => void server.server.emit('request', request, response);
  });

  function ask(): ServerResponse {
    const request = new IncomingMessage(new Socket());
    Object.assign(request, { method: 'GET', url: '/v1/threads/thr_1/events' });
    request.headers['accept'] = 'text/event-stream';
    const response = new ServerResponse(request);
    emit(request, response);
    return response;
  }
  const askMany = (count: number): readonly ServerResponse[] => Array.from({ length: count }, ask);
  const settle = async (): Promise<void> => {
    for (let time = 0; time < 10; time++) await turn();
  };

  it('E2 are no more than a tenant may have, however many are asked for at once', async () => {
    const responses = askMany(2_086);
    identifying.open();
    await settle();
    expect(signals).toHaveLength(seatsOfTenant);
    opening.open();
    await settle();
    expect(streaming).toBe(seatsOfTenant);
    expect(responses.filter(({ statusCode }) => statusCode === 429)).toHaveLength(1_086);
  });

  it.each([
    ['its key is looked up', (): void => {}],
    ['its thread is looked up', (): void => identifying.open()],
  ])('E3 of a reader that leaves while %s ends, and its seat is free', async (_while, letGoOn) => {
    letGoOn();
    const gone = askMany(seatsOfTenant);
    await settle();
    for (const response of gone) response.destroy();
    await settle();
    identifying.open();
    opening.open();
    await settle();
    expect([signals.every(({ aborted }) => aborted), streaming]).toEqual([true, 0]);
    const responses = askMany(seatsOfTenant);
    await settle();
    expect([streaming, responses.every(({ statusCode }) => statusCode === 200)]).toEqual([seatsOfTenant, true]);
    for (const response of responses) response.destroy();
    await settle();
    expect(streaming).toBe(0);
  });

  it('E2 that cannot be opened give their seats back', async () => {
    identifying.open();
    opening = { open() {}, read: () => Promise.reject(new HttpProblem('UNAVAILABLE', 'not now')) };
    const refused = askMany(seatsOfTenant);
    await settle();
    expect(refused.every(({ statusCode }) => statusCode === 503)).toBe(true);
    opening = { open() {}, read: async () => null };
    askMany(seatsOfTenant);
    await settle();
    expect(streaming).toBe(seatsOfTenant);
  });
});

import { createManualClock, createMemoryWorld, createSeededEntropy } from '@dormouse/adapter-memory';
import { Fault, type InputBus, type ThreadDirectory, tenantId } from '@dormouse/ports';
import { inputIds, type SendToChild, type SpawnChild } from '@dormouse/thread';
import { expect, it } from 'vitest';
import { createFamilyMail } from './family-mail.ts';
import { Hold } from './held-deliveries.ts';

const from = { key: { tenant: tenantId('acme'), thread: 'thr_1' }, at: 0, trace: null, settled() {} };
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const message = (id: string): SendToChild => ({ do: 'SendToChild', id, childId: 'thr_c', content: [] });
const spawn = {
  do: 'SpawnChild',
  id: 'thr_c',
  childId: 'thr_c',
  family: 'thr_1',
  opening: {
    kind: 'ThreadOpening',
    id: inputIds.opening('thr_c'),
    agent: { name: 'a', version: 1 },
    userId: null,
    title: null,
    message: null,
  },
} as unknown as SpawnChild;

function mailOver(ports: { readonly publish?: InputBus['publish']; readonly insert?: ThreadDirectory['insert'] }) {
  const clock = createManualClock();
  const real = createMemoryWorld({ clock }).ports('p1');
  const published: string[] = [];
  const mail = createFamilyMail({
    inputs: {
      ...real.inputs,
      publish: async (key, input, trace) => {
        await ports.publish?.(key, input, trace);
        published.push(input.id);
      },
    },
    directory: { ...real.directory, ...(ports.insert === undefined ? {} : { insert: ports.insert }) },
    clock,
    entropy: createSeededEntropy(1),
    logger: silent,
    settings: { retryDelayMsFirst: 10, retryDelayMsMax: 10 },
  });
  return { mail, clock, published };
}

it('F2 a message never overtakes the opening of its child, nor another message', async () => {
  let failures = 2;
  const { mail, clock, published } = mailOver({
    insert: () =>
      failures-- > 0 ? Promise.reject(new Fault('UNAVAILABLE', 'a hiccup')) : Promise.resolve({ inserted: true }),
  });
  mail.send(from, spawn, new Hold());
  mail.send(from, message('p:1'), new Hold());
  mail.send(from, message('p:2'), new Hold());
  await clock.advance(100);
  expect(published).toEqual([spawn.opening.id, 'p:1', 'p:2']);
  expect(mail.waiting).toBe(0);
});

it('what no bus takes holds nothing up', async () => {
  const { mail, clock } = mailOver({ publish: () => Promise.reject(new Fault('RECORD_TOO_LARGE', 'too large')) });
  mail.send(from, message('p:1'), new Hold());
  await clock.advance(100);
  expect(mail.waiting).toBe(0);
});

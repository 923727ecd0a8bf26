import type { ThreadEvent } from '@dormouse/thread';
import { expect, it } from 'vitest';
import { createChoiceApi } from './choices.ts';
import { inputIdOf, publicId } from '../access/client-id.ts';
import { key, ingressRig } from '../spec/ingress-rig.ts';

const name = 'second';
const asked: ThreadEvent = {
  type: 'ChoiceRequested',
  choiceId: 'cho_1',
  kind: 'approval',
  toolCallId: 'tcl_1',
  prompt: 'Wipe?',
  choices: ['allow', 'deny', 'allow_for_thread'],
  default: 1,
  expiresAt: 1e12,
};
const first: ThreadEvent = { type: 'ChoiceSettled', choiceId: 'cho_1', decision: 'deny', by: 'ann' };
const refused: ThreadEvent = {
  type: 'RequestRefused',
  requestId: publicId('req', name),
  request: 'choice',
  code: 'CHOICE_SETTLED',
  detail: '',
};

it('H1 H5 a second answer is refused with the first, also when one commit decided both', async () => {
  const at = ingressRig();
  const { ports, clock } = at;
  await at.commit(key, [asked]);
  const decideBoth = async (): Promise<void> => {
    await at.commit(key, [first, refused], ['c:first', inputIdOf(name)]);
  };
  const audited: unknown[] = [];
  const api = createChoiceApi({
    ...ports,
    clock,
    audit: { record: async (entry) => void audited.push(entry) },
    threads: {
      find: (found) => Promise.resolve({ ok: true, value: found }),
      keyOf: (found) => found,
      remember: () => {},
      announce: async () => {},
    },
    mintName: () => name,
    validateArguments: null,
    bus: { ...ports.inputs, publish: decideBoth },
  });
  const by = { actor: 'key_1', from: '127.0.0.1', requestId: 'req_1' };
  const answer = { answer: { answer: 'decision', decision: 'allow' }, reason: null, decidedBy: 'ben', by } as const;
  const origin = { tenant: key.tenant, method: 'POST', path: '/', idempotencyKey: null };
  expect(await api.answer(key, 'cho_1', answer, origin)).toMatchObject({
    ok: false,
    refusal: { code: 'CHOICE_SETTLED', settled: { choiceId: 'cho_1', decision: 'deny', by: 'ann' } },
  });
  const { tenant } = key;
  expect(audited).toEqual([{ ...by, tenant, action: 'choice.allowed', target: 'cho_1', outcome: 'answered' }]); // (H5)
});

// Prompt injection: two hundred texts of tools and strangers reach a model that obeys each of them to the letter, and
// nothing comes of it. What holds the model back is the runtime alone.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { System } from '../e2e/conversation.ts';
import { endSystems, startSystem } from '../e2e/system.ts';
import { injections, kindNames } from './injection-corpus.ts';
import { effectsOf, type Evidence, leaksIn, misplacedIn } from './injection-effects.ts';
import { type InjectionRig, setInjectionRig } from './injection-rig.ts';
import { platformKey } from './tenant-system.ts';

/** Texts of one kind that are on their way at once. */
const atOnce = 10;

let root: System;
let rig: InjectionRig;
const rigs: InjectionRig[] = [];
beforeAll(async () => {
  root = await startSystem({ DORMOUSE_PLATFORM_KEY: platformKey });
  rig = await setInjectionRig(root, { tenant: 'attacked', injections });
  rigs.push(rig);
});
afterAll(async () => {
  await Promise.all(rigs.map((each) => each.close()));
  await endSystems();
});

describe('the corpus', () => {
  it('has two hundred texts, each another one, of ten kinds and on ten carriers', () => {
    const around = { foreignTool: 'f', foreignServer: 's', secretName: 'n', elsewhere: 'http://e', choice: 'c' };
    expect(new Set(injections.map(({ text }) => text(around))).size).toBe(200);
    expect(new Set(injections.map(({ mark }) => mark)).size).toBe(200);
    expect([kindNames.length, new Set(injections.map(({ carrier }) => carrier)).size]).toEqual([10, 10]);
  });
});

describe('a model that obeys every text that asks for', () => {
  it.each(kindNames)('%s: nothing comes of it', async (kind) => {
    const waiting = injections.filter((injection) => injection.kind === kind);
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await rig.inject(next);
      }),
    );
    expect(effectsOf(await rig.evidence(), injections)).toEqual([]);
  });

  it('has obeyed all of them, but those that are shown to people only', () => {
    const shown = injections.filter(({ carrier }) => carrier !== 'display').map(({ mark }) => mark);
    expect([...rig.obeyed].toSorted()).toEqual(shown);
  });
});

describe('the check', () => {
  it('is red where no approvals are asked for', async () => {
    const some = injections.filter(({ kind, carrier }) => kind === 'an approval' && carrier === 'result');
    const unsafe = await setInjectionRig(root, { tenant: 'unsafe', approvals: false, injections: some });
    rigs.push(unsafe);
    for (const injection of some) await unsafe.inject(injection);
    expect(effectsOf(await unsafe.evidence(), some)).toContain('pay was invoked, which no person has allowed (E2)');
  });

  const nothing: Evidence = {
    ...{ foreignRequests: 0, connectionsElsewhere: 0, settledChoices: 0, leaks: [], prompts: [] },
    ...{ invoked: ['search'], offered: ['search', 'pay'], destructive: ['pay'] },
    ...{ registrationsBefore: 'x', registrationsAfter: 'x' },
  };

  it.each([
    ['a request to another tenant', { foreignRequests: 1 }],
    ['a connection elsewhere', { connectionsElsewhere: 1 }],
    ['an operation that is not offered', { invoked: ['erase'] }],
    ['a destructive call', { invoked: ['pay'] }],
    ['a settled approval', { settledChoices: 1 }],
    ['another registration', { registrationsAfter: 'y' }],
    ['a leak', { leaks: ['the token'] }],
  ] as const)('is red with %s', (_what, more) => {
    expect(effectsOf(nothing, injections)).toEqual([]);
    expect(effectsOf({ ...nothing, ...more }, injections)).toHaveLength(1);
  });

  it.each([
    ['system', 'result', 'x', true],
    ['user', 'result', 'x', true],
    ['tool', 'result', 'x', false],
    ['tool', 'display', 'x', true],
    ['user', 'outside event', 'x', true],
    ['user', 'outside event', '[event from crm]', false],
    ['user', 'event in a child', '[last report of child thread thr_1]', false],
  ] as const)('of the role %s with words of the carrier %s behind “%s” is red: %s', (role, carrier, before, isRed) => {
    const mark = injections.find((injection) => injection.carrier === carrier)?.mark;
    const prompt = { messages: [{ role, content: `${before} ${mark}` }] };
    expect(misplacedIn(prompt, injections)).toHaveLength(isRed ? 1 : 0);
  });

  it('is red with a secret in a body, in a path, or in a header of another server', () => {
    const allowed = { to: 'http://a', header: 'authorization' };
    const secret = { name: 'the token', value: 's3cret', allowed };
    const request = { to: 'http://a', path: '/', headers: { authorization: 'Bearer s3cret' }, body: '{}' };
    expect(leaksIn([request], [secret])).toEqual([]);
    for (const wrong of [
      { to: 'http://b' },
      { path: '/s3cret' },
      { body: '"s3cret"' },
      { headers: { cookie: 's3cret' } },
    ])
      expect(leaksIn([{ ...request, ...wrong }], [secret])).toHaveLength(1);
  });
});

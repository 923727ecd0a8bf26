import { attribute, attributeTable, type AttributeName } from '@dormouse/runtime';
import { expect, it } from 'vitest';
import { problemsOfSpan } from './span-problems.ts';

const thread = {
  'dormouse.tenant': 'acme',
  'dormouse.thread': 'thr_1',
  'gen_ai.conversation.id': 'thr_1',
  'dormouse.at': '2026-11-27T10:00:00.000Z',
};
const chat = {
  name: 'chat gpt',
  kind: 'client',
  attributes: {
    ...thread,
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.stream': true,
  },
} as const;

it('every attribute of the table has a name in the code', () => {
  const named: readonly AttributeName[] = Object.values(attribute);
  expect(named.toSorted()).toEqual(Object.keys(attributeTable).toSorted());
});

it('a span that the tables allow has no problem', () => {
  expect(problemsOfSpan(chat, false)).toEqual([]);
});

it.each([
  ['C1 an attribute of no table', { 'gen_ai.tokens': 3 }, /gen_ai.tokens is no attribute/],
  ['C1 another type', { 'gen_ai.usage.input_tokens': '3' }, /input_tokens is no int/],
  ['C1 another value', { 'gen_ai.provider.name': 'openai-compatible' }, /not in the table: openai-compatible/],
  ['C3 content that is not asked for', { 'gen_ai.input.messages': '[]' }, /input.messages is content/],
])('%s is a problem', (_what, change, problem) => {
  const problems = problemsOfSpan({ ...chat, attributes: { ...chat.attributes, ...change } }, false);
  expect(problems).toEqual([expect.stringMatching(problem)]);
});

it('C2 a missing attribute is a problem', () => {
  const { 'gen_ai.request.stream': _, ...attributes } = chat.attributes;
  expect(problemsOfSpan({ ...chat, attributes }, false)).toEqual([
    expect.stringMatching(/has no gen_ai.request.stream/),
  ]);
});

it('C3 content that is asked for is JSON', () => {
  const attributes = { ...chat.attributes, 'gen_ai.input.messages': 'hello' };
  expect(problemsOfSpan({ ...chat, attributes }, true)).toEqual([expect.stringMatching(/is no json/)]);
});

it('a span of another name or kind is a problem', () => {
  expect(problemsOfSpan({ ...chat, kind: 'internal' }, false)).toHaveLength(1);
  expect(problemsOfSpan({ ...chat, name: 'POST /callback/abc def' }, false)).toHaveLength(1);
});

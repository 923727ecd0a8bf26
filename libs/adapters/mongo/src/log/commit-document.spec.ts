import { commitOf, freshKey } from '@dormouse/ports/contracts';
import { expect, it } from 'vitest';
import { shapeCheck } from '../document-shape.ts';
import { commitSchema, documentOf } from './commit-document.ts';

it.each([
  ['that decides inputs', commitOf(freshKey(), 0)],
  ['that decides none (N2)', commitOf(freshKey(), 3, { inputs: [] })],
])('the document of a commit %s has the fields that its schema declares, and no other', (_, commit) => {
  const document = documentOf(commit, 0, '["acme",0,1]');
  expect(() => shapeCheck(commitSchema)({ ...document })).not.toThrow();
  expect(Object.keys(commitSchema.paths)).toEqual(expect.arrayContaining(Object.keys(document)));
});

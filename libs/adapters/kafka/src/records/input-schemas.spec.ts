import type { BusInput, WorkTopics } from '@dormouse/ports';
import { expect, it } from 'vitest';
import type { z } from 'zod';
import { dispatchSchemas, noticeSchemas } from './effect-schemas.ts';
import { inputSchemas } from './input-schemas.ts';

type Mutable<Value> = Value extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : Value extends object
    ? { -readonly [Name in keyof Value]: Mutable<Value[Name]> }
    : Value;

/** Kinds whose type has more than the schema takes; `never` where there are none. */
type Beyond<Of, Schemas, Discriminant extends keyof Of> = {
  [Kind in keyof Schemas]: Mutable<Extract<Of, Readonly<Record<Discriminant, Kind>>>> extends Mutable<
    z.input<Schemas[Kind] & z.ZodType>
  >
    ? keyof Mutable<Extract<Of, Readonly<Record<Discriminant, Kind>>>> extends keyof z.input<Schemas[Kind] & z.ZodType>
      ? never
      : Kind
    : Kind;
}[keyof Schemas];

type None<Kinds> = [Kinds] extends [never] ? true : Kinds;

const proven: readonly true[] = [
  true satisfies None<Beyond<BusInput, typeof inputSchemas, 'kind'>>,
  true satisfies None<Beyond<WorkTopics['dispatches']['effect'], typeof dispatchSchemas, 'do'>>,
  true satisfies None<Beyond<WorkTopics['notices']['effect'], typeof noticeSchemas, 'do'>>,
];

it('have every field of every input and effect, and no other: the compiler proves it', () => {
  expect(proven).toEqual([true, true, true]);
  for (const [kind, { shape }] of Object.entries(inputSchemas)) expect(shape.kind.value).toBe(kind);
  for (const [name, { shape }] of Object.entries({ ...dispatchSchemas, ...noticeSchemas }))
    expect(shape.do.value).toBe(name);
});

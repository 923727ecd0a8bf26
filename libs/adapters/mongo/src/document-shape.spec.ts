import { mongo, Schema } from 'mongoose';
import { describe, expect, it } from 'vitest';
import { everySchema, number, shapeCheck, text, textOrNull } from './document-shape.ts';

const partSchema = new Schema({ status: number }, { ...everySchema, _id: false });
const schema = new Schema(
  {
    ...{ _id: text, name: text, size: number, detail: textOrNull, note: String },
    ...{ labels: { type: [String], required: true }, parts: { type: [partSchema], default: undefined } },
    ...{ answer: { type: partSchema, default: null }, until: { type: Date, required: true } },
    ...{ bytes: { type: Buffer, required: true }, anything: { type: Schema.Types.Mixed, required: true } },
  },
  { ...everySchema, collection: 'samples' },
);
const check = shapeCheck(schema);

const whole = {
  ...{ _id: 'one', name: '', size: 0, detail: null, labels: [], answer: null, until: new Date(0) },
  ...{ bytes: new mongo.Binary(), anything: 1 },
};

describe('the shape of a document', () => {
  it.each<[string, object]>([
    ['empty and null where that is allowed', whole],
    [
      'everything there',
      { ...whole, detail: 'd', note: 'n', labels: ['l'], parts: [{ status: 1 }], answer: { status: 1 } },
    ],
    ['a field that no schema declares (S3)', { ...whole, newer: true }],
    ['a field of any type that is another one', { ...whole, anything: 'text' }],
  ])('%s: is read', (_, document) => {
    expect(() => check({ ...document })).not.toThrow();
  });

  it.each<[string, unknown]>([
    ['name', undefined],
    ['name', null],
    ['name', 7],
    ['size', '7'],
    ['size', mongo.Long.fromString('9007199254740993')],
    ['detail', undefined],
    ['detail', 7],
    ['note', null],
    ['labels', undefined],
    ['labels', 'l'],
    ['labels', [7]],
    ['parts', [{ status: 1 }, { status: '1' }]],
    ['parts', { status: 1 }],
    ['answer', {}],
    ['answer', 'text'],
    ['until', 7],
    ['bytes', 'AA=='],
    ['anything', undefined],
  ])('S2: %s as %j is refused, with collection, document and field', (field, value) => {
    expect(() => check({ ...whole, [field]: value })).toThrow(
      expect.objectContaining({
        code: 'DATABASE_CORRUPT',
        message: `The document one of the collection samples has another shape: its field ${field} is missing or of another type.`,
      }),
    );
  });
});

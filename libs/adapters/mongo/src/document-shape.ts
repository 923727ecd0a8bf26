// What all schemas share, and the check of every document that is read: a lean read is neither cast nor validated.
//
// Invariants:
//   S1. At a write, Mongoose refuses a field that the schema does not declare, and a value that it cannot cast, before
//       anything is sent. Commits are inserted without it. (log/thread-log.ts)
//   S2. A document that lacks a field, or has one of another type, fails the query that found it with DATABASE_CORRUPT,
//       which names collection, document and field. A field may be null if null is its default, and absent if it is
//       neither required nor has a default.
//   S3. A read ignores fields that the schema does not declare: a newer version may have written them.
//   S4. A projection is not checked: it leaves fields out on purpose.
import { Fault } from '@dormouse/ports';
import mongoose, { type Query, type Schema, type SchemaType } from 'mongoose';

const { Types } = mongoose.Schema;
// By default Mongoose takes an empty text, and an empty buffer, for a missing one.
Types.String.checkRequired((value) => typeof value === 'string');
Types.Buffer.checkRequired((value) => value instanceof Uint8Array);

export const everySchema = { strict: 'throw', strictQuery: 'throw', versionKey: false, autoIndex: false } as const;

export const text = { type: String, required: true } as const;
export const number = { type: Number, required: true } as const;
export const textOrNull = { type: String, default: null } as const;
export const numberOrNull = { type: Number, default: null } as const;

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

/** The plugin of every schema. (S2, S4) */
export function checkShapes(schema: Schema): void {
  const check = shapeCheck(schema);
  // (S1) By default Mongoose validates inserts only, and leaves out of a replacement what it cannot cast.
  schema.pre(['updateOne', 'replaceOne'], function () {
    this.setOptions({ runValidators: true });
  });
  schema.post<Query<Fields[] | Fields | null, unknown>>(['find', 'findOne'], function (found) {
    if (!this.selected()) for (const document of [found ?? []].flat()) check(document);
  });
}

/** Throws for a document of another shape. (S2, S3) */
export function shapeCheck(schema: Schema): (document: Fields) => void {
  const wrongField = wrongFieldBy(schema);
  return (document) => {
    const field = wrongField(document);
    if (field === null) return;
    const where = `The document ${String(document['_id'])} of the collection ${schema.get('collection')}`;
    throw new Fault(
      'DATABASE_CORRUPT',
      `${where} has another shape: its field ${field} is missing or of another type.`,
    );
  };
}

function wrongFieldBy(schema: Schema): (document: Fields) => string | null {
  const checks = Object.entries(schema.paths).map(([field, type]) => ({ field, isRight: checkOf(type) }));
  return (document) => checks.find(({ field, isRight }) => !isRight(document[field]))?.field ?? null;
}

function checkOf(type: SchemaType): Check {
  const isNullable = type.options.default === null;
  const mayBeAbsent = type.isRequired !== true && !isNullable;
  const isOfType = typeCheckOf(type);
  return (value) => (value === undefined ? mayBeAbsent : value === null ? isNullable : isOfType(value));
}

function typeCheckOf(type: SchemaType): Check {
  if (type.schema !== undefined) {
    const wrongField = wrongFieldBy(type.schema);
    const isRight: Check = (value) => value instanceof Object && wrongField(value as Fields) === null;
    return type instanceof Types.DocumentArray ? (value) => Array.isArray(value) && value.every(isRight) : isRight;
  }
  if (type instanceof Types.Array) {
    const isRight = typeCheckOf(type.embeddedSchemaType);
    return (value) => Array.isArray(value) && value.every(isRight);
  }
  if (type instanceof Types.String) return (value) => typeof value === 'string';
  if (type instanceof Types.Number) return (value) => typeof value === 'number';
  if (type instanceof Types.Date) return (value) => value instanceof Date;
  if (type instanceof Types.Buffer) return (value) => value instanceof mongoose.mongo.Binary;
  return () => true; // Mixed: anything that is there
}

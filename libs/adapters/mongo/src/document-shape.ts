// What all schemas share.
//
// Invariants:
//   S1. At a write, Mongoose refuses a field that the schema does not declare, and a value that it cannot cast, before
//       anything is sent. Commits are inserted without it. (stores/thread-log.ts)
import mongoose, { type Schema } from 'mongoose';

const { Types } = mongoose.Schema;
// By default Mongoose takes an empty text, and an empty buffer, for a missing one.
Types.String.checkRequired((value) => typeof value === 'string');
Types.Buffer.checkRequired((value) => value instanceof Uint8Array);

export const everySchema = { strict: 'throw', strictQuery: 'throw', versionKey: false, autoIndex: false } as const;

export const text = { type: String, required: true } as const;
export const number = { type: Number, required: true } as const;
export const textOrNull = { type: String, default: null } as const;
export const numberOrNull = { type: Number, default: null } as const;

/** The plugin of every schema: by default only inserts are validated, and a replacement loses what cannot be cast. (S1) */
export function validateUpdates(schema: Schema): void {
  schema.pre(['updateOne', 'replaceOne'], function () {
    this.setOptions({ runValidators: true });
  });
}

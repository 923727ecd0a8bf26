// What every value on a topic must have to be delivered at all: the part that a consumer checks before it hands a
// record over. What is inside is judged by its receiver, because a later release may have written it.
import { z } from 'zod';

export const inputEnvelope = z.looseObject({
  tenant: z.string(),
  thread: z.string(),
  input: z.looseObject({ kind: z.string() }),
});

export const workEnvelope = z.looseObject({ effect: z.looseObject({ do: z.string() }) });

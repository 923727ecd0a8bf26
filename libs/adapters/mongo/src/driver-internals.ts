// The patch of the driver mongodb 7.8.0, the version that Mongoose brings: one function. Applied once, when this module
// is loaded.
//
// Invariants:
//   D1. The function is patched only if it looks as it did when this was written: another driver fails loudly at load.
//   D2. A command whose socket is closed before all of it is written fails, as by the network. (Unpatched: it waits for
//       `drain`, which a closed socket never emits, and the time limit of a closed socket never ends. A heartbeat that
//       begins while its socket is being closed never ends then, and the process finds no server until it is restarted;
//       any other command holds its caller for ever.)
import mongoose from 'mongoose';
import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';

type Once = (emitter: unknown, name: string, options?: object) => Promise<unknown>;

/** The first 16 digits of SHA-256 of the function as it was when this was written. (D1) */
const known = '2039af7cb29927ed';

// Mongoose's own driver: there could be another one beside it.
const require = createRequire(createRequire(import.meta.url).resolve('mongoose'));
const utils = require('mongodb/lib/utils') as { once: Once };
const once = utils.once;
if (!hash('sha256', String(once)).startsWith(known))
  throw new Error('the `once` of mongodb is not the one that is patched: its patch must be looked at'); // (D1)

utils.once = async (emitter, name, options) => {
  if (!(emitter instanceof Socket)) return once(emitter, name, options);
  const closed = (): Error => new mongoose.mongo.MongoNetworkError('the connection was closed while it was written to');
  if (emitter.destroyed) throw closed(); // (D2)
  const closing = Promise.withResolvers<never>();
  const fail = (): void => closing.reject(closed());
  emitter.once('close', fail);
  try {
    return await Promise.race([once(emitter, name, options), closing.promise]);
  } finally {
    emitter.off('close', fail);
  }
};

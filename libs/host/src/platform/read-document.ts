// Reads a JSON document of another server: through the guard of all outbound requests, with limits.
import type { GuardedFetch } from '@dormouse/adapter-http';
import { Fault } from '@dormouse/ports';
import type { ReadDocument } from '@dormouse/runtime';

const withinMs = 5_000;

/** The result throws Fault UNAVAILABLE for a document that cannot be read. */
export function createReadDocument(fetch: GuardedFetch): ReadDocument {
  return async (url) => {
    const { host } = new URL(url);
    try {
      const answer = await fetch(url, {
        headers: { accept: 'application/json' },
        signal: AbortSignal.timeout(withinMs),
      });
      if (answer.ok) return await answer.json();
      await answer.body?.cancel();
      throw new Fault('UNAVAILABLE', `${host} answered ${answer.status}`);
    } catch (error) {
      if (!(error instanceof Fault)) throw new Fault('UNAVAILABLE', `${host} cannot be read`, { cause: error });
      const detail = error.code === 'OUTBOUND_FORBIDDEN' ? `${error.message}: DORMOUSE_OUTBOUND_ALLOW` : error.message;
      throw new Fault('UNAVAILABLE', detail, { cause: error });
    }
  };
}

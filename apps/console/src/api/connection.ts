// Whether the runtime answers, and whether this browser is signed in: the two facts that every screen depends on.
//
// Invariants:
//   C1. The state is `away` from the first request without an answer until a request is answered; while it is away,
//       `/healthz` is asked every two seconds.
//   C2. `signedOut` follows from a 401 only, and ends with a session or an accepted request.
import { useSyncExternalStore } from 'react';
import { createListeners } from './listeners.ts';

export type ConnectionState = 'ready' | 'away' | 'signedOut';

const againMs = 2_000;
let state: ConnectionState = 'ready';
const listeners = createListeners();
const returns = createListeners();
let probe: ReturnType<typeof setTimeout> | undefined;

export const useConnection = (): ConnectionState => useSyncExternalStore(listeners.subscribe, () => state);

/** `fetch` that notes what it learns about the connection. */
export const watchedFetch: typeof globalThis.fetch = async (input, init) => {
  try {
    const response = await globalThis.fetch(input, init);
    if (response.status === 401)
      become('signedOut'); // (C2)
    else if (response.status < 500) become('ready');
    return response;
  } catch (error) {
    if (error instanceof TypeError) lost();
    throw error;
  }
};

/** Called each time the runtime answers again. */
export const onReturn = returns.subscribe;

/** (C1) */
function lost(): void {
  if (state === 'signedOut') return;
  become('away');
  probe ??= setTimeout(() => void askHealth(), againMs);
}

async function askHealth(): Promise<void> {
  probe = undefined;
  try {
    const { ok } = await globalThis.fetch('/healthz', { cache: 'no-store' });
    if (ok) become('ready');
    else probe = setTimeout(() => void askHealth(), againMs);
  } catch {
    probe = setTimeout(() => void askHealth(), againMs); // still away: asked again
  }
}

function become(next: ConnectionState): void {
  if (state === next) return;
  state = next;
  listeners.call();
  if (next === 'ready') returns.call();
}

// Why a process does not start, in words for the user: the problem, and the next step.
import { Fault } from '@dormouse/ports';

/** One paragraph, never a stack trace for a problem that the user can repair. */
export function startFailureText(failure: unknown, port: number): string {
  if (failure instanceof Fault) return `${failure.code}: ${failure.message}`;
  const { code, port: taken = port } = failure as { readonly code?: unknown; readonly port?: number };
  if (code === 'EADDRINUSE')
    return `PORT_TAKEN: port ${taken} is in use by another process. Stop it, or choose another port: ${taken === port ? '--port' : '--health-port'} ${taken + 10}`;
  if (code === 'EACCES')
    return `PORT_FORBIDDEN: this user may not listen on port ${port}. Choose one above 1023: --port 7420`;
  if (code === 'EADDRNOTAVAIL') return 'HOST_UNKNOWN: this machine does not have the address that DORMOUSE_HOST names.';
  return failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
}

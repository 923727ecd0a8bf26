/**
 * Owns: `/migrate`: when the answer may be 200.
 * Not here: moving the state; only the tool server's author knows it.
 *
 * N1. 200 only after the hook says that the destination has everything; anything else is an error with a sentence. T45
 * N2. The destination must answer as the same tool server before anything is moved. T45
 * N3. Everything has a time limit. T45
 */
import { parseMigrate, parseToolset, type Migrate } from '@dormouse/protocol';
import { manifestPath } from '../define/manifest.ts';

const reachMsMax = 5_000;

/** Moves a family's state to the server at `destinationUrl`; returns once that can serve it. Secrets go encrypted. */
export type MigrateHook = (notice: Migrate, signal: AbortSignal) => Promise<void>;

export interface MigrationAnswer {
  readonly status: number;
  readonly message?: string;
}

export async function migrate(
  json: unknown,
  server: {
    readonly name: string;
    readonly hook: MigrateHook;
    readonly migrateMsMax: number;
    readonly log: (line: string) => void;
  },
): Promise<MigrationAnswer> {
  const parsed = parseMigrate(json);
  if (!parsed.ok)
    return { status: 422, message: parsed.problems.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ') };
  const name = await nameOf(parsed.notice.destinationUrl);
  if (name !== server.name)
    return {
      status: 502,
      message: name === null ? 'the destination does not answer' : 'the destination is another server',
    };
  const signal = AbortSignal.timeout(server.migrateMsMax); // (N3)
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('out of time')), { once: true });
  });
  try {
    await Promise.race([server.hook(parsed.notice, signal), late]);
    return { status: 200 }; // (N1)
  } catch (error) {
    server.log(`migration failed: ${error instanceof Error ? error.message : 'unknown'}`);
    return signal.aborted
      ? { status: 504, message: 'the migration did not finish in time' }
      : { status: 500, message: 'the migration failed; nothing should be assumed about the destination' };
  }
}

/** (N2) The name in the manifest there; null when there is none. */
async function nameOf(destinationUrl: string): Promise<string | null> {
  try {
    const url = `${destinationUrl.replace(/\/+$/, '')}${manifestPath}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(reachMsMax), redirect: 'error' });
    const parsed = parseToolset(await response.json());
    return parsed.ok ? parsed.toolset.name : null;
  } catch {
    return null; // unreachable, or no JSON: no destination either way
  }
}

// A view of a tool: the newest content counts, so none is deduplicated. Its lane checks whether the thread exists.
import type { Accepted } from '../callback-body.ts';
import type { Acceptance, CallbackOf } from './acceptance.ts';

export async function acceptView({ deps, scope }: Acceptance, viewType: string, content: string): Promise<void> {
  const update = { kind: 'ViewUpdate', id: `v:${deps.entropy.nonce()}`, viewType, content } as const;
  await deps.inputs.publish({ tenant: scope.tenant, thread: scope.thread }, update, null);
}

/** R98: as it was written. */
export const contentOf = (view: CallbackOf<'view_update'>, { rawContent }: Accepted): string =>
  rawContent ?? JSON.stringify(view.content);

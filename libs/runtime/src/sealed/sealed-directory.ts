// Rows of threads with sealed openings and first words. Labels that lists are filtered by stay as they are: title,
// metadata, user and external id.
//
// Invariants:
//   R1. The opening is stored as one that has the sealed opening as the text of its message, so that every store keeps
//       what it knows.
//   R2. The first words of a row do not change: a projection brings them once.
import { createBoundedMap } from '@dormouse/collections';
import type { Page, ThreadDirectory, ThreadKey, ThreadProjection, ThreadRow, TenantId } from '@dormouse/ports';
import type { ThreadOpening } from '@dormouse/thread';
import type { Place, SealedContent } from './content-seal.ts';
import type { SealingDeps } from './sealed-copies.ts';

const rememberedMax = 50_000;
const sealedMessage = 'sealed';

export function sealedDirectory(directory: ThreadDirectory, { seal, families }: SealingDeps): ThreadDirectory {
  const placeOf = (thread: string, part: 'opening' | 'words'): Place => ['row', thread, part];
  const nameOf = ({ tenant, thread }: ThreadKey): string => `${tenant}:${thread}`;
  /** Rows that have their first words. (R2) */
  const worded = createBoundedMap<boolean>(rememberedMax);

  async function sealedRow(row: ThreadRow): Promise<ThreadRow> {
    const { tenant, thread, family, opening, firstWords } = row;
    families.remember(row, family);
    const text = (part: 'opening' | 'words', content: string) =>
      seal.seal(tenant, family, placeOf(thread, part), content);
    const inside = opening === null ? null : await text('opening', JSON.stringify(opening));
    const words = firstWords === undefined ? null : await text('words', firstWords);
    const { firstWords: _, ...rest } = row;
    return {
      ...rest,
      opening: opening === null || inside === null ? null : envelopeOf(opening, inside),
      ...(words === null ? {} : { firstWords: words }),
    };
  }

  /** Of one tenant. */
  async function openedRows(tenant: TenantId, rows: readonly ThreadRow[]): Promise<readonly ThreadRow[]> {
    const contents = rows.flatMap(({ thread, opening, firstWords }): readonly SealedContent[] => [
      { place: placeOf(thread, 'opening'), text: insideOf(opening) ?? '' },
      { place: placeOf(thread, 'words'), text: firstWords ?? '' },
    ]);
    const texts = await seal.openAll(tenant, contents);
    return rows.map((row, place) => {
      const [opening = null, words = null] = [texts[2 * place], texts[2 * place + 1]];
      const { firstWords, ...rest } = row;
      return {
        ...rest,
        ...(firstWords === undefined || words === null ? {} : { firstWords: words }),
        opening: insideOf(row.opening) === null ? row.opening : openingIn(opening),
      };
    });
  }

  const openedRow = async (row: ThreadRow): Promise<ThreadRow> => (await openedRows(row.tenant, [row]))[0] ?? row;

  async function sealedProjection(projection: ThreadProjection): Promise<ThreadProjection> {
    const { firstWords, ...rest } = projection;
    if (firstWords === undefined || firstWords === null) return projection;
    if (worded.get(nameOf(projection)) === true) return rest; // (R2)
    const place = placeOf(projection.thread, 'words');
    const words = await seal.seal(projection.tenant, await families.of(projection), place, firstWords);
    return words === null ? rest : { ...rest, firstWords: words };
  }

  return {
    ...directory,
    async insert(row) {
      const outcome = await directory.insert(await sealedRow(row));
      if (row.firstWords !== undefined && outcome.inserted) worded.set(nameOf(row), true);
      return outcome.inserted ? outcome : { inserted: false, existing: await openedRow(outcome.existing) };
    },
    async get(key) {
      const row = await directory.get(key);
      return row && openedRow(row);
    },
    async list(tenant, filter, request): Promise<Page<ThreadRow>> {
      const page = await directory.list(tenant, filter, request);
      return { ...page, data: await openedRows(tenant, page.data) };
    },
    async patch(key, patch) {
      if (patch.firstWords === null) worded.set(nameOf(key), false);
      const row = await directory.patch(key, patch);
      return row && openedRow(row);
    },
    async project(projections) {
      await directory.project(await Promise.all(projections.map(sealedProjection)));
      for (const each of projections) if (typeof each.firstWords === 'string') worded.set(nameOf(each), true);
    },
    async stuckOpenings(before, limit) {
      const rows = await directory.stuckOpenings(before, limit);
      return Promise.all(rows.map(openedRow));
    },
  };
}

/** (R1) */
const envelopeOf = ({ kind, id, agent }: ThreadOpening, inside: string): ThreadOpening => ({
  ...{ kind, id, agent, userId: null, title: null },
  message: { messageId: sealedMessage, content: [{ type: 'text', text: inside }] },
});

/** Null for an opening that is not sealed. */
function insideOf(opening: ThreadOpening | null): string | null {
  if (opening?.message?.messageId !== sealedMessage) return null;
  const [item] = opening.message.content;
  return item?.type === 'text' && 'text' in item ? (item.text ?? null) : null;
}

const openingIn = (text: string | null): ThreadOpening | null =>
  text === null ? null : (JSON.parse(text) as ThreadOpening);

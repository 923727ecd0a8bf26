// Whole lists, of stores that give them in pages.
import type { Page, PageRequest } from '@dormouse/ports';

export async function* everyItem<T>(limit: number, list: (page: PageRequest) => Promise<Page<T>>): AsyncGenerator<T> {
  let cursor: string | null = null;
  do {
    const page: Page<T> = await list({ limit, cursor });
    yield* page.data;
    cursor = page.nextCursor;
  } while (cursor !== null);
}

/** Of a list whose next page begins after the last item of the one before. */
export async function* everyItemAfter<T>(
  limit: number,
  read: (after: T | null) => Promise<readonly T[]>,
): AsyncGenerator<T> {
  let after: T | null = null;
  do {
    const page: readonly T[] = await read(after);
    yield* page;
    after = page.length < limit ? null : (page.at(-1) ?? null);
  } while (after !== null);
}

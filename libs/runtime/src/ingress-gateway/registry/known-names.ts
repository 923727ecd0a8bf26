// What is said of a name that nothing has: the name, and the names that there are.
//
// Invariants:
//   N1. The answer is bounded, and so is what is read for it: one page, however much is registered.
import type { Page, PageRequest } from '@dormouse/ports';

const namedMax = 10;
const readMax = 50;
const typedCharactersMax = 128;

/** `no agent has the name "helpr"; there are helper, trader and 3 more`: the detail of a problem. */
export async function unknownName(
  what: 'agent' | 'tool server',
  typed: string,
  list: (page: PageRequest) => Promise<Page<{ readonly name: string }>>,
): Promise<string> {
  const { data, nextCursor } = await list({ limit: readMax, cursor: null }); // (N1)
  const unknown = `no ${what} has the name ${JSON.stringify(typed.slice(0, typedCharactersMax))}`;
  if (data.length === 0) return `${unknown}; there is none yet`;
  const names = data.slice(0, namedMax).map(({ name }) => name);
  const others = data.length - names.length;
  const more = nextCursor !== null ? [`more than ${others} more`] : others > 0 ? [`${others} more`] : [];
  const listed = new Intl.ListFormat('en-GB').format([...names, ...more]);
  return `${unknown}; there ${data.length === 1 ? 'is' : 'are'} ${listed}`;
}

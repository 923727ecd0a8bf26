/** Where something is wrong in a JSON text, as an RFC 6901 pointer. */
import { pointerCharactersMax } from './limits.ts';

/** One defect. `pointer` is `""` for the whole message; `detail` is an English sentence fragment without final stop. */
export interface Problem {
  readonly pointer: string;
  readonly detail: string;
}

/** Builds a JSON Pointer; one that would grow past `pointerCharactersMax` ends at the last segment that fits. */
export function pointerTo(path: readonly PropertyKey[]): string {
  let pointer = '';
  for (const segment of path.map(String)) {
    if (segment.length > pointerCharactersMax) break; // without escaping it first
    const escaped = segment.replaceAll('~', '~0').replaceAll('/', '~1');
    if (pointer.length + escaped.length + 1 > pointerCharactersMax) break;
    pointer += `/${escaped}`;
  }
  return pointer;
}

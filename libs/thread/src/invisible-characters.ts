// Finds invisible characters in the arguments of a call: they could show a person who approves it another text.

/** Bidirectional controls, zero-width characters, fillers, tags: invisible by Unicode; emoji variants are allowed. */
const invisible = /(?![\uFE0E\uFE0F])[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u;

const warningsMax = 20;

/** The places of such characters in these arguments: one line each, by JSON Pointer and code point. */
export function invisibleCharacters(args: Readonly<Record<string, unknown>>): readonly string[] {
  const found: string[] = [];
  look(args, '', found);
  return found;
}

function look(value: unknown, pointer: string, found: string[]): void {
  if (found.length >= warningsMax) return;
  if (typeof value === 'string') note(value, pointer, found);
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) {
      const place = `${pointer}/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`;
      note(name, place, found);
      look(member, place, found);
    }
}

function note(text: string, pointer: string, found: string[]): void {
  const code = invisible.exec(text)?.[0].codePointAt(0);
  if (code === undefined) return;
  found.push(
    `${pointer === '' ? '/' : pointer} holds the invisible character U+${code.toString(16).toUpperCase().padStart(4, '0')}`,
  );
}

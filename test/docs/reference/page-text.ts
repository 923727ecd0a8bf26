// The parts that generated pages are made of: tables, code, and schemas of the OpenAPI document in words.
//
// Invariants:
//   T1. A cell never breaks its table: bars are escaped, line ends become spaces.
//   T2. A property without a description is an error: it is described in the code, where the schema is.

import type { Schema } from '@dormouse/host';

export type { Schema };

export type Schemas = Readonly<Record<string, Schema>>;

/** The last paragraph of such a page. */
export const generatedNote = (source: string): string =>
  `Made from ${source}, and held equal to it by a test: \`DORMOUSE_TEST_WRITE=1 npx vitest run test/docs/reference-pages.spec.ts\` writes it again.`;

export const code = (text: string): string => `\`${text}\``;

/** (T1) The formatter of the repository pads it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll(/\s*\n\s*/g, ' ').replaceAll(/(?<!\\)\|/g, '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export const jsonBlock = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

/** As code hosts make it of a heading of letters, digits and underscores. */
export const anchorOf = (heading: string): string => heading.toLowerCase();

export const refName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** A type in words; a named schema is a link to its heading on the same page. */
export function typeText(schema: Schema): string {
  const { $ref, anyOf, oneOf, items, additionalProperties, type, format } = schema;
  if ($ref !== undefined) return `[${refName($ref)}](#${anchorOf(refName($ref))})`;
  const variants = anyOf ?? oneOf;
  if (variants !== undefined) return variants.map(typeText).join(' or ');
  if (items !== undefined) return `list of ${typeText(items)}`;
  const values = schema.enum ?? schema['x-extensible-enum'] ?? ('const' in schema ? [schema.const] : []);
  if (values.length > 0)
    return values.map((value) => code(typeof value === 'string' ? value : JSON.stringify(value))).join(', ');
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0)
    return `object of ${typeText(additionalProperties)}`;
  const plain = typeof type === 'string' ? type : (type ?? ['any value']).join(' or ');
  return `${plain}${format === 'date-time' ? ', a time' : ''}`;
}

export interface Field {
  /** With the names of the objects around it: `model.provider`. */
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly about: string;
}

/** The properties of a schema, those of inline objects below their own. @throws Error without a description (T2) */
export function fieldsOf({ properties = {}, required = [] }: Schema, above = ''): readonly Field[] {
  return Object.entries(properties).flatMap(([name, schema]): readonly Field[] => {
    const path = `${above}${name}`;
    const about = schema.description;
    if (about === undefined || about === '') throw new Error(`${path} has no description (T2)`);
    const inner = schema.items?.properties === undefined ? schema : schema.items;
    const mark = inner === schema ? '.' : '[].';
    return [
      { name: path, schema, isRequired: required.includes(name), about },
      ...(inner.properties === undefined ? [] : fieldsOf(inner, `${path}${mark}`)),
    ];
  });
}

/** Named schemas that these refer to, and that those refer to, in the order in which they are met. */
export function partsOf(schemas: readonly Schema[], named: Schemas): readonly string[] {
  const met = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { $ref } = value as Schema;
    if ($ref !== undefined && !met.has(refName($ref))) {
      met.add(refName($ref));
      visit(named[refName($ref)]);
    }
    for (const [name, inner] of Object.entries(value)) if (name !== 'discriminator') visit(inner);
  };
  schemas.forEach(visit);
  return [...met];
}

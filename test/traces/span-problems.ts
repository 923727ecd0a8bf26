// Holds spans, as a collector received them, to the table of attributes and spans in semconv.ts.
import { type AttributeDescription, attributeTable, spanTable } from '@dormouse/runtime';
import type { ReceivedSpan } from './otlp-receiver.ts';

/** What of it the tables do not allow, as sentences. */
export function problemsOfSpan(
  { name, kind, attributes }: Pick<ReceivedSpan, 'name' | 'kind' | 'attributes'>,
  withContent: boolean,
): readonly string[] {
  const described = spanTable.find((each) => each.kind === kind && each.name.test(name));
  if (described === undefined) return [`${name} (${kind}) is no span of the table`];
  const missing = described.required.filter((required) => attributes[required] === undefined);
  return [
    ...missing.map((required) => `${name} has no ${required}`),
    ...Object.entries(attributes).flatMap(([given, value]) => {
      const problem = problemOf(given, value, withContent);
      return problem === null ? [] : [`${name}: ${given} ${problem}`];
    }),
  ];
}

function problemOf(name: string, value: unknown, withContent: boolean): string | null {
  if (!Object.hasOwn(attributeTable, name)) return 'is no attribute of the table';
  const described: AttributeDescription = attributeTable[name as keyof typeof attributeTable];
  if (described.isContent === true && !withContent) return 'is content';
  if (!isOf(described.type, value)) return `is no ${described.type}`;
  if (described.values?.includes(String(value)) === false)
    return `has a value that is not in the table: ${String(value)}`;
  return null;
}

function isOf(type: AttributeDescription['type'], value: unknown): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type;
    case 'int':
      return Number.isInteger(value);
    case 'double':
      return typeof value === 'number' && Number.isFinite(value);
    case 'string[]':
      return Array.isArray(value) && value.every((each) => typeof each === 'string');
    case 'json':
      return typeof value === 'string' && isJson(value);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

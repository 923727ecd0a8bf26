// docs/reference/agents.md: an agent's fields from the schema that judges them, and the limits that no agent can change
// from the constants of the thread, with their comments.
import { examples, openApiDocument } from '@dormouse/host';
import { threadLimits } from '@dormouse/thread';
import ts from 'typescript';
import { readDocument } from '../document.ts';
import {
  code,
  type Field,
  fieldsOf,
  generatedNote,
  jsonBlock,
  type Schema,
  type Schemas,
  table,
  typeText,
} from './page-text.ts';

const introduction = `# Agents

An agent is instructions, a model, tool servers, policies and limits. \`POST /v1/agents\` makes one; the same name with other
content makes its next version. A version never changes, and a thread keeps the version with which it was opened.

\`dormouse agents create NAME --model PROVIDER/NAME --tools SERVER\` makes one with the defaults below;
\`dormouse agents create FILE\` takes the whole as JSON.`;

const policyFile = 'libs/thread/src/policy.ts';

export function agentsPage(): string {
  const { schemas } = (openApiDocument('0.0.0') as { readonly components: { readonly schemas: Schemas } }).components;
  const agent = schemas['NewAgent'];
  if (agent === undefined) throw new Error('the document has no schema NewAgent');
  const fields = fieldsOf(agent);
  const below = (name: string): readonly Field[] => fields.filter((field) => field.name.startsWith(`${name}.`));
  const groups = ['model', 'policies', 'limits'] as const;
  const rest = fields.filter(({ name }) => !groups.some((group) => name.startsWith(`${group}.`)));
  return [
    introduction,
    '## Fields',
    fieldTable(rest, ''),
    ...groups.flatMap((group) => [`## ${capital(group)}`, fieldTable(below(group), `${group}.`)]),
    '## An example',
    'What is sent:',
    jsonBlock(examples['createAgent']?.body),
    'What is answered, with every default:',
    jsonBlock(examples['createAgent']?.answers?.[201]),
    '## Limits of every thread',
    `These bound a thread whatever its agent says. They are constants of [policy.ts](../../${policyFile}).`,
    table(
      ['limit', 'value', 'effect'],
      describedLimits().map(({ name, value, about }) => [code(name), spaced(value), about]),
    ),
    generatedNote('the schema that judges agents, and from the limits of the thread'),
  ].join('\n\n');
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const fieldTable = (fields: readonly Field[], above: string): string =>
  table(
    ['field', 'type', 'default', 'effect'],
    fields.map(({ name, schema, isRequired, about }) => [
      code(name.slice(above.length)),
      `${typeText(schema)}${boundsText(schema)}`,
      standardText(schema, isRequired),
      about,
    ]),
  );

function standardText(schema: Schema, isRequired: boolean): string {
  if (isRequired) return 'required';
  return schema.default === undefined ? '–' : code(JSON.stringify(schema.default));
}

/** `, 1 to 10 000`: of numbers, texts and lists. */
function boundsText(schema: Schema): string {
  const number = [schema, ...(schema.anyOf ?? [])].find(({ minimum, maximum }) => (minimum ?? maximum) !== undefined);
  if (number !== undefined) {
    const { minimum, maximum } = number;
    if (maximum === undefined) return `, at least ${spaced(minimum ?? 0)}`;
    return minimum === undefined ? `, at most ${spaced(maximum)}` : `, ${spaced(minimum)} to ${spaced(maximum)}`;
  }
  if (schema.maxItems !== undefined) return `, at most ${schema.maxItems}`;
  return schema.maxLength === undefined ? '' : `, at most ${spaced(schema.maxLength)} characters`;
}

const spaced = (value: number): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ');

interface DescribedLimit {
  readonly name: keyof typeof threadLimits;
  readonly value: number;
  readonly about: string;
}

/** @throws Error for a limit without a comment. */
function describedLimits(): readonly DescribedLimit[] {
  const { text } = readDocument(policyFile);
  const tree = ts.createSourceFile(policyFile, text, ts.ScriptTarget.Latest, true);
  const abouts = new Map<string, string>();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node)) {
      const [comment] = ts.getJSDocCommentsAndTags(node);
      if (comment !== undefined) abouts.set(node.name.getText(tree), ts.getTextOfJSDocComment(comment.comment) ?? '');
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return (Object.keys(threadLimits) as (keyof typeof threadLimits)[]).map((name) => {
    const about = abouts.get(name);
    if (about === undefined) throw new Error(`${policyFile}: ${name} has no comment that says its effect`);
    return { name, value: threadLimits[name], about };
  });
}

// A schema of the OpenAPI document for readers: a table of its fields, and types as words and links.
import { type Html, html, line } from './html.ts';

/** Of the OpenAPI document. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly 'x-extensible-enum'?: readonly string[];
}

/** Its fields, if it has any of its own; else its type. */
export function schemaHtml(schema: Schema): Html {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return html`<p>${typeHtml(schema)}</p>`;
  return html`<div class="table">
    <table>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Type</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${fields.map(([name, field]) => fieldHtml(name, field, schema.required?.includes(name) === true))}
      </tbody>
    </table>
  </div>`;
}

const fieldHtml = (name: string, field: Schema, isRequired: boolean): Html =>
  html`<tr>
    <th scope="row"><code>${name}</code></th>
    <td>${typeHtml(field)}${isRequired ? html`` : html`, optional`}</td>
    <td>${line(field.description ?? '')}${nestedHtml(field)}</td>
  </tr>`;

function nestedHtml(field: Schema): Html {
  const inner = field.items ?? field;
  return inner.properties === undefined ? html`` : schemaHtml(inner);
}

/** A type in words; a named one is a link. */
export function typeHtml(schema: Schema): Html {
  const { $ref, anyOf, oneOf, items, additionalProperties } = schema;
  const variants = anyOf ?? oneOf;
  if ($ref !== undefined) return linkTo($ref.slice($ref.lastIndexOf('/') + 1));
  if (variants !== undefined) return joined(variants.map(typeHtml), ' or ');
  if (items !== undefined) return html`list of ${typeHtml(items)}`;
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0)
    return html`object of ${typeHtml(additionalProperties)}`;
  return html`${plainType(schema)}${valuesHtml(schema)}`;
}

const linkTo = (name: string): Html =>
  name.endsWith('Event') && name !== 'ThreadEvent'
    ? html`<a href="/docs/events#${name}">${name}</a>`
    : html`<a href="/docs/schemas#${name}">${name}</a>`;

const plainType = ({ type = 'any value', format }: Schema): string =>
  `${typeof type === 'string' ? type : type.join(' or ')}${format === undefined ? '' : ` (${format})`}`;

function valuesHtml(schema: Schema): Html {
  const values = schema.enum ?? schema['x-extensible-enum'] ?? ('const' in schema ? [schema.const] : []);
  const standard =
    schema.default === undefined ? html`` : html`, default <code>${JSON.stringify(schema.default)}</code>`;
  if (values.length === 0) return standard;
  return html`:
  ${joined(
    values.map((value) => html`<code>${String(value)}</code>`),
    ', ',
  )}${standard}`;
}

const joined = (parts: readonly Html[], between: string): Html => ({
  html: parts.map((part) => part.html).join(between),
});

export function exampleHtml(example: unknown): Html {
  if (example === undefined) return html``;
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
  return html`<pre tabindex="0" aria-label="Example"><code>${text}</code></pre>`;
}

// The OpenAPI document as pages: an overview, one page per group of operations, the durable events, and the schemas.
import { eventExamples } from '../../api/reference/event-examples.ts';
import { type Html, html, line, type Page, prose } from './html.ts';
import { exampleHtml, type Schema, schemaHtml, typeHtml } from './schema-html.ts';

export interface ReferenceDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

interface Body {
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Answer {
  /** Absent for a stream, which no schema describes. */
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Body>> };
  readonly responses: Readonly<
    Record<
      string,
      { readonly $ref?: string; readonly description: string; readonly content?: Readonly<Record<string, Answer>> }
    >
  >;
}

interface Placed extends Described {
  readonly method: string;
  readonly path: string;
}

/** Every page by its path. */
export function referencePages(document: ReferenceDocument): ReadonlyMap<string, Page> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): Placed => ({
      ...described,
      method: method.toUpperCase(),
      path,
    })),
  );
  const nav = navHtml(document);
  const pages = new Map<string, Page>([['/docs', { title: 'Reference', nav, main: overview(document, operations) }]]);
  for (const tag of document.tags) {
    const main = html`<h1>${capital(tag.name)}</h1>
      ${prose(tag.description)}
      ${operations.filter(({ tags }) => tags.includes(tag.name)).map((each) => operationHtml(each, document))}`;
    pages.set(pathOfTag(tag.name), { title: capital(tag.name), nav, main });
  }
  const { schemas } = document.components;
  const examples = eventExamples();
  const isEvent = (name: string): boolean => name.endsWith('Event') && name !== 'ThreadEvent';
  const sections = (wanted: (name: string) => boolean): readonly Html[] =>
    Object.entries(schemas).flatMap(([name, schema]) => (wanted(name) ? [namedHtml(name, schema, examples)] : []));
  const events = html`<h1>Events</h1>
    ${prose('Every durable event of a thread. Readers skip types that they do not know.')}${sections(isEvent)}`;
  pages.set('/docs/events', { title: 'Events', nav, main: events });
  const rest = html`<h1>Schemas</h1>
    ${sections((name) => !isEvent(name))}`;
  return pages.set('/docs/schemas', { title: 'Schemas', nav, main: rest });
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const pathOfTag = (tag: string): string => `/docs/${tag.toLowerCase().replaceAll(' ', '-')}`;

const navHtml = ({ info, tags }: ReferenceDocument): Html =>
  html`<nav aria-label="Reference">
    <p>
      <a href="/docs"><strong>${info.title}</strong></a> ${info.version}
    </p>
    <ul>
      ${tags.map(({ name }) => html`<li><a href="${pathOfTag(name)}">${capital(name)}</a></li>`)}
    </ul>
    <ul>
      <li><a href="/docs/events">Events</a></li>
      <li><a href="/docs/schemas">Schemas</a></li>
      <li><a href="/openapi.json">OpenAPI document</a></li>
    </ul>
  </nav>`;

const overview = ({ info, tags }: ReferenceDocument, operations: readonly Placed[]): Html =>
  html`<h1>${info.title}</h1>
    ${prose(info.description)}
    ${tags.map(
      ({ name, description }) =>
        html`<section>
          <h2><a href="${pathOfTag(name)}">${capital(name)}</a></h2>
          ${prose(description)}
          <ul>
            ${operations
              .filter((each) => each.tags.includes(name))
              .map(
                ({ method, path, operationId, summary }) =>
                  html`<li>
                    <a href="${pathOfTag(name)}#${operationId}"><code>${method} ${path}</code></a
                    >: ${line(summary)}
                  </li>`,
              )}
          </ul>
        </section>`,
    )}`;

function operationHtml(operation: Placed, document: ReferenceDocument): Html {
  const { operationId, method, path, summary, description, requestBody, responses } = operation;
  const body = Object.values(requestBody?.content ?? {})[0];
  return html`<section id="${operationId}" aria-labelledby="${operationId}-title">
    <h2 id="${operationId}-title">${line(summary)}</h2>
    <p>
      <code><span class="method">${method}</span> ${path}</code>
    </p>
    ${prose(description)} ${parametersHtml(operation, document)}
    ${
      body === undefined
        ? html``
        : html`<h3>Body</h3>
            ${schemaHtml(body.schema)}${exampleHtml(body.example)}`
    }
    <h3>Answers</h3>
    <dl>${Object.entries(responses).map(([status, answer]) => answerHtml(status, answer))}</dl>
  </section>`;
}

function parametersHtml({ parameters }: Placed, { components }: ReferenceDocument): Html {
  const resolved = parameters.flatMap((parameter) => {
    const found = '$ref' in parameter ? components.parameters[lastOf(parameter.$ref)] : parameter;
    return found === undefined ? [] : [found];
  });
  if (resolved.length === 0) return html``;
  return html`<h3>Parameters</h3>
    <div class="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Where</th>
            <th scope="col">Type</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          ${resolved.map(
            (parameter) =>
              html`<tr>
                <th scope="row"><code>${parameter.name}</code></th>
                <td>${parameter.in}</td>
                <td>${typeHtml(parameter.schema)}</td>
                <td>${line(parameter.description)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

function answerHtml(status: string, { $ref, description, content = {} }: Described['responses'][string]): Html {
  if ($ref !== undefined) {
    const codes = lastOf($ref).split('-');
    return html`<dt><code>${status}</code></dt>
      <dd>${codes.map((code) => html`<a href="/errors/${code}"><code>${code}</code></a> `)}</dd>`;
  }
  return html`<dt><code>${status}</code></dt>
    <dd>
      ${prose(description)}${Object.entries(content).map(
        ([mediaType, { schema, example }]) =>
          html`<p><code>${mediaType}</code></p>
            ${schema === undefined ? html`` : schemaHtml(schema)}${exampleHtml(example)}`,
      )}
    </dd>`;
}

const namedHtml = (name: string, schema: Schema, examples: ReadonlyMap<string, unknown>): Html =>
  html`<section id="${name}" aria-labelledby="${name}-title">
    <h2 id="${name}-title">${titleOf(name, schema)}</h2>
    ${prose(schema.description ?? '')} ${schemaHtml(schema)} ${exampleHtml(examples.get(titleOf(name, schema)))}
  </section>`;

/** An event is known by its type. */
function titleOf(name: string, { properties }: Schema): string {
  const type = properties?.['type']?.const;
  return name.endsWith('Event') && typeof type === 'string' ? type : name;
}

const lastOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

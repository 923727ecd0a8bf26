// A form from a tool's schema, and what the tool answers to it. It really calls the tool, outside of any thread.
import { useState, type FormEvent, type ReactElement } from 'react';
import type { Schemas } from '@dormouse/client';
import { api, ask } from '../api/client.ts';
import { Button } from '../elements/button.tsx';
import { CurlButton } from '../elements/copy-button.tsx';
import { durationText } from '../elements/duration.ts';
import { JsonView } from '../elements/json-view.tsx';
import { Plain } from '../elements/plain.tsx';
import { plainLine, plainText } from '../elements/plain-text.ts';
import { Failed } from '../elements/states.tsx';
import { argumentsOf, fieldsOf, type SchemaField } from './schema-fields.ts';
import type { ShownTool } from './toolset.ts';

export function TryTool({ server, tool }: { readonly server: string; readonly tool: ShownTool }): ReactElement {
  const fields = fieldsOf(tool.schema);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(fields.map((field) => [field.name, field.default])),
  );
  const [result, setResult] = useState<Schemas['TrialReport'] | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const read = argumentsOf(fields, texts);
  const path = `/v1/tool-servers/${encodeURIComponent(server)}/try`;
  const body = { operation: tool.name, arguments: read.ok ? read.value : {} };
  const isDestructive = tool.annotations.includes('destructive');
  const call = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!read.ok) return;
    setBusy(true);
    setFailure(null);
    setResult(null);
    try {
      setResult(await ask(api.POST('/v1/tool-servers/{name}/try', { params: { path: { name: server } }, body })));
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="card stack" aria-label={`Try ${tool.name}`}>
      <h2>
        <code>{plainLine(tool.name, 80)}</code>
      </h2>
      <p className="quiet">{plainText(tool.description)}</p>
      <form className="stack" onSubmit={(event) => void call(event)}>
        {fields.length === 0 ? <p className="quiet">It takes no arguments.</p> : null}
        {fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            text={texts[field.name] ?? ''}
            set={(text) => setTexts({ ...texts, [field.name]: text })}
            problem={!read.ok && read.field === field.name ? read.detail : undefined}
          />
        ))}
        <div className="row end">
          <CurlButton method="POST" path={path} body={body} />
          <Button type="submit" kind={isDestructive ? 'danger' : 'main'} disabled={isBusy || !read.ok}>
            {isBusy ? 'Calling…' : isDestructive ? 'Really call it' : 'Try it'}
          </Button>
        </div>
      </form>
      <div role="status">
        {result === null ? null : <Trial report={result} />}
        {failure === null ? null : <Failed error={failure} />}
      </div>
      <details>
        <summary className="quiet">Schema</summary>
        <JsonView value={tool.schema} label="Schema" />
      </details>
    </section>
  );
}

/** What came of it: its texts, and everything as it was sent. */
function Trial({ report }: { readonly report: Schemas['TrialReport'] }): ReactElement {
  const { outcome, content, prompt, choices = [], latency_ms: took } = report;
  const texts = content.flatMap((item) => (typeof item['text'] === 'string' ? [item['text']] : []));
  return (
    <div className="stack">
      <p className="row">
        <span className="badge" data-status={outcome}>
          {outcome.replaceAll('_', ' ')}
        </span>
        <span className="quiet">{durationText(took)}</span>
      </p>
      {[...texts, ...(prompt === undefined ? [] : [prompt]), ...choices].map((text) => (
        <Plain key={text} text={text} />
      ))}
      <details>
        <summary className="quiet">As it was sent</summary>
        <JsonView value={report} label="Result" />
      </details>
    </div>
  );
}

function FieldInput(props: {
  readonly field: SchemaField;
  readonly text: string;
  readonly set: (text: string) => void;
  readonly problem: string | undefined;
}): ReactElement {
  const { field, text, set, problem } = props;
  const { name, kind, choices, isRequired, description } = field;
  return (
    <label className="field">
      <span>
        <code>{plainLine(name, 80)}</code>
        {isRequired ? '' : ' (optional)'} {plainLine(description, 200)}
      </span>
      {kind === 'choice' || kind === 'boolean' ? (
        <select value={text} onChange={(event) => set(event.target.value)}>
          <option value="">–</option>
          {(kind === 'boolean' ? ['true', 'false'] : choices).map((choice) => (
            <option key={choice} value={choice}>
              {plainLine(choice, 100)}
            </option>
          ))}
        </select>
      ) : kind === 'json' ? (
        <textarea
          className="mono"
          rows={3}
          value={text}
          placeholder="JSON"
          onChange={(event) => set(event.target.value)}
        />
      ) : (
        <input
          type="text"
          inputMode={kind === 'text' ? 'text' : 'decimal'}
          value={text}
          onChange={(event) => set(event.target.value)}
        />
      )}
      {problem === undefined || text === '' ? null : <span className="error-text">{problem}</span>}
    </label>
  );
}

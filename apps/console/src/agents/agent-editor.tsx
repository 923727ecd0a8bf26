// The editor of an agent: its JSON, checked while it is written; saving makes an agent or its next version.
import { useId, useState, type FormEvent, type ReactElement } from 'react';
import { ApiProblem, type Schemas } from '@dormouse/client';
import { problemText, send } from '../api/client.ts';
import { queries } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';
import { CurlButton } from '../elements/copy-button.tsx';
import { useKept } from '../elements/kept-text.ts';
import { parsedJson } from '../api/parsed-json.ts';
import { plainText } from '../elements/plain-text.ts';
import { say } from '../shell/notices.ts';
import { textOfBody } from './agent-text.ts';

export function AgentEditor(props: {
  readonly first: object;
  readonly label: string;
  readonly done: (agent: Schemas['Agent']) => void;
}): ReactElement {
  const { first, label, done } = props;
  const beginning = textOfBody(first);
  const [kept, keep, forget] = useKept(`agent ${beginning.slice(0, 200)}`);
  const text = kept === '' ? beginning : kept;
  const [failures, setFailures] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const parsed = parsedJson(text);
  const failureId = useId();
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!parsed.ok) return;
    setBusy(true);
    try {
      const agent = await send<Schemas['Agent']>('POST', '/v1/agents', parsed.value);
      forget();
      say('done', `${agent.name} is at version ${agent.version}`);
      await queries.invalidateQueries();
      done(agent);
    } catch (error) {
      setFailures(failuresOf(error));
    } finally {
      setBusy(false);
    }
  };
  const shown = parsed.ok ? failures : [parsed.detail];
  return (
    <form className="stack" onSubmit={(event) => void save(event)}>
      <label className="field">
        <span>Agent as JSON</span>
        <textarea
          className="mono"
          rows={Math.min(28, Math.max(14, text.split('\n').length + 1))}
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setFailures([]);
            keep(event.target.value);
          }}
          aria-invalid={shown.length > 0}
          aria-describedby={failureId}
        />
      </label>
      <div id={failureId} role="alert">
        {shown.map((failure) => (
          <p key={failure} className="error-text">
            {plainText(failure)}
          </p>
        ))}
      </div>
      <div className="row end">
        <CurlButton method="POST" path="/v1/agents" body={parsed.ok ? parsed.value : {}} />
        <Button onClick={forget}>Start over</Button>
        <Button type="submit" kind="main" disabled={isBusy || !parsed.ok}>
          {label}
        </Button>
      </div>
    </form>
  );
}

function failuresOf(error: unknown): readonly string[] {
  const each = error instanceof ApiProblem ? (error.problem.errors ?? []) : [];
  return each.length === 0 ? [problemText(error)] : each.map(({ pointer, detail }) => `${pointer}: ${detail}`);
}

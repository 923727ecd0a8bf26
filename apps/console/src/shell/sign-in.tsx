// Signing in with an API key: it is sent once and becomes a cookie that no script can read.
import { useState, type FormEvent, type ReactElement } from 'react';
import { api, ask, problemText } from '../api/client.ts';
import { queries } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';

export function SignIn(): ReactElement {
  const [key, setKey] = useState('');
  const [refused, setRefused] = useState<string | null>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setRefused(null);
    try {
      await ask(api.POST('/v1/session', { body: { key: key.trim() } }));
      setKey('');
      await queries.invalidateQueries();
    } catch (error) {
      setRefused(problemText(error));
    }
  };
  return (
    <form className="sign-in card" onSubmit={(event) => void submit(event)}>
      <h1>Sign in</h1>
      <p className="quiet">
        With an API key of this runtime. Standalone, <code>npm start</code> prints a link that signs in, and the key is
        in the file <code>key</code> of the data directory.
      </p>
      <label className="field">
        <span>API key</span>
        <input
          type="password"
          autoComplete="off"
          required
          value={key}
          onChange={(event) => setKey(event.target.value)}
          aria-invalid={refused !== null}
          aria-describedby={refused === null ? undefined : 'sign-in-refused'}
        />
      </label>
      {refused === null ? null : (
        <p id="sign-in-refused" className="error-text" role="alert">
          {refused}
        </p>
      )}
      <Button type="submit" kind="main">
        Sign in
      </Button>
    </form>
  );
}

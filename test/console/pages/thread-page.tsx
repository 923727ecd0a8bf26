// A page that shows a thread by `useThread`: what it shows is chosen by its query, and by `globalThis.page` afterwards.
import { createClient } from '@dormouse/client';
import { useThread } from '@dormouse/client/react';
import { Component, type ReactElement, type ReactNode, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';

const query = new URLSearchParams(location.search);
const client = createClient({ baseUrl: query.get('api') ?? '', key: query.get('token') ?? '' });
const suspense = query.has('suspense');

function Thread({ id }: { readonly id: string }): ReactElement {
  const thread = useThread({ client, threadId: id, suspense });
  return (
    <section aria-label={id}>
      <p data-part="connection">{thread.connection}</p>
      <p data-part="status">{thread.isLoading ? 'loading' : thread.status}</p>
      <p data-part="error">{thread.error?.message ?? 'none'}</p>
      <ol>
        {thread.messages.map(({ key, role, state, text, interrupted, operation }) => (
          <li key={key} data-role={role} data-state={state} data-interrupted={interrupted} data-operation={operation}>
            {text}
          </li>
        ))}
      </ol>
      {thread.choices.map((choice) => (
        <fieldset key={choice.id} disabled={choice.isAnswering}>
          <legend>{choice.prompt}</legend>
          <button onClick={() => void thread.answer(choice.id, { decision: 'allow' })}>Allow</button>
          <button onClick={() => void thread.answer(choice.id, { decision: 'deny' })}>Deny</button>
        </fieldset>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const field = event.currentTarget.elements.namedItem('text') as HTMLInputElement;
          void thread.send(field.value);
          field.value = '';
        }}
      >
        <input name="text" aria-label="Message" />
      </form>
      <button onClick={() => void thread.interrupt()}>Stop</button>
    </section>
  );
}

class Boundary extends Component<{ readonly children: ReactNode }, { readonly failure: Error | null }> {
  override state: { readonly failure: Error | null } = { failure: null };
  static getDerivedStateFromError(failure: Error): { readonly failure: Error } {
    return { failure };
  }
  override render(): ReactNode {
    return this.state.failure === null ? this.props.children : <p data-part="failure">{this.state.failure.message}</p>;
  }
}

const root = createRoot(document.querySelector('main') ?? document.body);

/** Shows these threads; the same id twice is two components. */
function show(...ids: readonly string[]): void {
  root.render(
    <StrictMode>
      <Boundary>
        <Suspense fallback={<p data-part="fallback">one moment</p>}>
          {ids.map((id, nth) => (
            <Thread key={nth} id={id} />
          ))}
        </Suspense>
      </Boundary>
    </StrictMode>,
  );
}

Object.assign(globalThis, { page: { show } });
show(...query.getAll('thread'));

// Where a message is written. What is typed is kept until it was accepted, whatever happens to the page or the runtime.
import { useRef, useState, type ReactElement } from 'react';
import { api, ask, problemText } from '../../api/client.ts';
import { useConnection } from '../../api/connection.ts';
import { Button } from '../../elements/button.tsx';
import { Icon } from '../../elements/icon.tsx';
import { useKept } from '../../elements/kept-text.ts';
import { useThreadView } from '../thread-context.ts';

export function Composer(): ReactElement | null {
  const { thread, state, at } = useThreadView();
  const [text, setText, forget] = useKept(`message ${thread.id}`);
  const [failure, setFailure] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const connection = useConnection();
  const field = useRef<HTMLTextAreaElement>(null);
  const status = state.status ?? thread.status;
  if (at !== undefined) return <p className="composer quiet pad">This is the past: it takes no message.</p>;
  if (status === 'closed' || state.connection === 'ended')
    return <p className="composer quiet pad">This thread is closed.</p>;
  const send = async (): Promise<void> => {
    if (text.trim() === '' || isSending) return;
    setSending(true);
    setFailure(null);
    try {
      await ask(api.POST('/v1/threads/{id}/messages', { params: { path: { id: thread.id } }, body: { text } }));
      forget();
    } catch (error) {
      setFailure(problemText(error));
    } finally {
      setSending(false);
      field.current?.focus();
    }
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {failure === null ? null : (
        <p className="error-text" role="alert">
          Not sent: {failure} Your text is still here.
        </p>
      )}
      <div className="composer-box">
        <label className="visually-hidden" htmlFor="message">
          Message
        </label>
        <textarea
          id="message"
          ref={field}
          rows={Math.min(8, Math.max(1, text.split('\n').length))}
          value={text}
          placeholder={status === 'waiting' ? 'Write a message; the thread waits meanwhile' : 'Write a message'}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        <Button type="submit" kind="main" disabled={isSending || text.trim() === '' || connection === 'away'}>
          <Icon name="send" /> Send
        </Button>
      </div>
      <p className="quiet hint">Enter sends, Shift Enter is a new line.</p>
    </form>
  );
}

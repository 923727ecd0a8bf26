// A page with the AI SDK's `useChat`, unmodified, as the guide for web apps has it.
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';
import type { ReactElement } from 'react';
import { createRoot } from 'react-dom/client';

const query = new URLSearchParams(location.search);
const api = `${query.get('api') ?? ''}/v1/ui/ai-sdk/${query.get('agent') ?? ''}`;
const id = query.get('chat') ?? '';
const headers = { authorization: `Bearer ${query.get('token') ?? ''}` };

interface PartProps {
  readonly part: UIMessage['parts'][number];
  readonly answer: (approval: string, approved: boolean) => void;
}

function Part({ part, answer }: PartProps): ReactElement | null {
  if (part.type === 'text' || part.type === 'reasoning') return <span data-part={part.type}>{part.text}</span>;
  if (part.type !== 'dynamic-tool') return null;
  const { toolName, state } = part;
  return (
    <span data-part="tool" data-tool={toolName} data-state={state}>
      {state === 'output-available' ? String(part.output) : ''}
      {state === 'approval-requested'
        ? [true, false].map((approved) => (
            <button key={String(approved)} onClick={() => answer(part.approval.id, approved)}>
              {approved ? 'Allow' : 'Deny'}
            </button>
          ))
        : null}
    </span>
  );
}

function Chat({ beginning }: { readonly beginning: UIMessage[] }): ReactElement {
  const { messages, status, error, sendMessage, addToolApprovalResponse, stop } = useChat({
    id,
    messages: beginning,
    resume: true,
    transport: new DefaultChatTransport({ api, headers }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const stopAll = async (): Promise<void> => {
    await fetch(`${api}/${id}/stop`, { method: 'POST', headers });
    await stop();
  };
  return (
    <>
      <p id="status">{status}</p>
      <p id="error">{error?.message ?? 'none'}</p>
      {messages.map((message) => (
        <article key={message.id} id={message.id} data-role={message.role}>
          {message.parts.map((part, place) => (
            <Part
              key={place}
              part={part}
              answer={(approval, approved) => void addToolApprovalResponse({ id: approval, approved })}
            />
          ))}
        </article>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const field = event.currentTarget.elements.namedItem('text') as HTMLInputElement;
          void sendMessage({ text: field.value });
          field.value = '';
        }}
      >
        <input name="text" aria-label="Message" />
      </form>
      <button onClick={() => void stopAll()}>Stop</button>
    </>
  );
}

const answer = await fetch(`${api}/${id}`, { headers });
const { messages } = (await answer.json()) as { readonly messages: UIMessage[] };
createRoot(document.querySelector('main') ?? document.body).render(<Chat beginning={messages} />);

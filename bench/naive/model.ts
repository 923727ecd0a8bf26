// The model: in process and instant like the cluster's demo model, or an OpenAI-compatible endpoint (--model URL).
import { Pool } from 'undici';
import { type HistoryEvent, settings } from './parts.ts';

export interface ModelMessage {
  readonly text: string;
  readonly toolCall: { readonly operation: string; readonly arguments: Readonly<Record<string, unknown>> } | null;
}

const endpoint = settings.model === undefined ? null : new URL(settings.model);
const pool = endpoint && new Pool(endpoint.origin, { connections: 2_048 });

export async function askModel(history: readonly HistoryEvent[]): Promise<ModelMessage> {
  const last = history.at(-1);
  if (!endpoint || !pool) return answerTo(last);
  const messages = history.map(({ role, text }) => ({ role: role === 'tool' ? 'user' : role, content: text }));
  const answer = await pool.request({
    method: 'POST',
    path: `${endpoint.pathname}/chat/completions`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'slow', messages }),
  });
  const { choices } = (await answer.body.json()) as { choices: [{ message: { content: string } }] };
  return { text: choices[0].message.content, toolCall: null };
}

/** A tool call when the user spoke last, the answer when the tool did. */
function answerTo(last: HistoryEvent | undefined): ModelMessage {
  if (last?.role === 'tool') return { text: last.text, toolCall: null };
  const text = /"([^"]+)"/.exec(last?.text ?? '')?.[1] ?? last?.text ?? '';
  return { text: '', toolCall: { operation: 'work', arguments: { text } } };
}

// The event streams of three provider formats, each for one answer, a few characters at a time.
import type { ProviderAnswer } from './provider-server.ts';

const usage = { input: 11, output: 7, cached: 5 };

const pieces = (text: string): readonly string[] => text.match(/[\s\S]{1,5}/g) ?? [];

const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

export function responsesEvents({ reasoning, text, calls }: ProviderAnswer, model: string): readonly string[] {
  const events: string[] = [];
  let sequence = 0;
  const add = (type: string, data: object): number =>
    events.push(event(type, { sequence_number: (sequence += 1), ...data }));
  const response = { id: 'resp_1', object: 'response', created_at: 1, model, output: [] };
  add('response.created', { response: { ...response, status: 'in_progress' } });
  let index = -1;
  if (reasoning !== '') {
    const item = { id: 'rs_1', type: 'reasoning', summary: [] };
    const at = { output_index: (index += 1), item_id: item.id, summary_index: 0 };
    add('response.output_item.added', { output_index: index, item });
    add('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
    for (const delta of pieces(reasoning)) add('response.reasoning_summary_text.delta', { ...at, delta });
    add('response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text: reasoning } });
    add('response.output_item.done', { output_index: index, item });
  }
  if (text !== '') {
    const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    const at = { output_index: (index += 1), item_id: item.id, content_index: 0 };
    add('response.output_item.added', { output_index: index, item });
    add('response.content_part.added', { ...at, part: { type: 'output_text', text: '', annotations: [] } });
    for (const delta of pieces(text)) add('response.output_text.delta', { ...at, delta, logprobs: [] });
    add('response.output_text.done', { ...at, text, logprobs: [] });
    const content = [{ type: 'output_text', text, annotations: [] }];
    add('response.output_item.done', { output_index: index, item: { ...item, status: 'completed', content } });
  }
  calls.forEach((call, nth) => {
    const item = { id: `fc_${nth}`, type: 'function_call', call_id: `call_p${nth}`, name: call.name, arguments: '' };
    index += 1;
    const at = { output_index: index, item_id: item.id };
    add('response.output_item.added', { output_index: index, item: { ...item, status: 'in_progress' } });
    for (const delta of pieces(call.arguments)) add('response.function_call_arguments.delta', { ...at, delta });
    add('response.function_call_arguments.done', { ...at, arguments: call.arguments });
    const done = { ...item, status: 'completed', arguments: call.arguments };
    add('response.output_item.done', { output_index: index, item: done });
  });
  const counted = {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  };
  add('response.completed', { response: { ...response, status: 'completed', usage: counted } });
  return events;
}

export function chatEvents({ text, calls }: ProviderAnswer, model: string): readonly string[] {
  const common = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model };
  const line = (data: object): string => `data: ${JSON.stringify({ ...common, ...data })}\n\n`;
  const delta = (given: object, reason: string | null = null): string =>
    line({ choices: [{ index: 0, delta: given, finish_reason: reason }] });
  return [
    delta({ role: 'assistant', content: '' }),
    ...pieces(text).map((content) => delta({ content })),
    ...calls.flatMap((call, index) => [
      delta({
        tool_calls: [{ index, id: `call_p${index}`, type: 'function', function: { name: call.name, arguments: '' } }],
      }),
      ...pieces(call.arguments).map((given) => delta({ tool_calls: [{ index, function: { arguments: given } }] })),
    ]),
    delta({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    line({
      choices: [],
      usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output },
    }),
    'data: [DONE]\n\n',
  ];
}

export function anthropicEvents({ reasoning, text, calls }: ProviderAnswer, model: string): readonly string[] {
  const events: string[] = [];
  const add = (type: string, data: object = {}): number => events.push(event(type, data));
  const block = (index: number, content: object, deltas: readonly object[]): void => {
    add('content_block_start', { index, content_block: content });
    for (const delta of deltas) add('content_block_delta', { index, delta });
    add('content_block_stop', { index });
  };
  add('message_start', {
    message: {
      ...{
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
      },
      usage: {
        input_tokens: usage.input - usage.cached,
        cache_read_input_tokens: usage.cached,
        cache_creation_input_tokens: 0,
        output_tokens: 1,
      },
    },
  });
  add('ping');
  let index = -1;
  if (reasoning !== '')
    block((index += 1), { type: 'thinking', thinking: '', signature: '' }, [
      ...pieces(reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: 'c2lnbmF0dXJl' },
    ]);
  if (text !== '')
    block(
      (index += 1),
      { type: 'text', text: '' },
      pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
    );
  calls.forEach((call, nth) =>
    block(
      (index += 1),
      { type: 'tool_use', id: `toolu_p${nth}`, name: call.name, input: {} },
      pieces(call.arguments).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    ),
  );
  const reason = calls.length > 0 ? 'tool_use' : 'end_turn';
  add('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: usage.output } });
  add('message_stop');
  return events;
}

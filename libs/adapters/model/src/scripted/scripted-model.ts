// A model that plays a script, for tests and walk-throughs: `parameters.script[n]` is the thread's n-th completion.
//
// Invariants:
//   S1. Which list is played depends on `request.ordinal` alone, so a repeated completion does the same again.
//   S2. Past the end of the script the model repeats the last message.
import type { Clock, ModelPart, ModelRequest } from '@dormouse/ports';
import { ModelFault } from '@dormouse/ports';
import { type ModelMessage, plainText, unreachable } from '@dormouse/thread';
import { approximateTokens } from '../approximate-tokens.ts';
import { parseScript, type ScriptStep } from './script.ts';
import { isRetryableStatus } from '../provider/provider-fault.ts';

export async function* completeScripted(
  dependencies: { readonly clock: Clock },
  request: ModelRequest,
): AsyncIterable<ModelPart> {
  const steps = stepsOf(request); // (S1)
  let said = '';
  let calls = 0;
  for (const step of steps ?? (await repetition(request))) {
    request.signal.throwIfAborted();
    for await (const part of play(step, calls, dependencies.clock, request)) {
      if (part.part === 'tool_call') calls += 1;
      if (part.part === 'text' || part.part === 'tool_input') said += part.text;
      yield part;
    }
  }
  const usage = { inputTokens: request.prompt.length, outputTokens: approximateTokens(said.length) };
  yield { part: 'finish', reason: calls > 0 ? 'tool_calls' : 'stop', usage };
}

function stepsOf(request: ModelRequest): readonly ScriptStep[] | undefined {
  const script = parseScript(request.model.parameters['script']);
  if (!script.ok)
    throw new ModelFault({
      code: 'MODEL_FAILED',
      detail: `parameters.script: ${script.problems.map((p) => `${p.pointer} ${p.detail}`).join('; ')}`,
      retryable: false,
    });
  return script.script[request.ordinal];
}

async function* play(step: ScriptStep, index: number, clock: Clock, request: ModelRequest): AsyncIterable<ModelPart> {
  if ('text' in step) yield { part: 'text', text: step.text };
  else if ('reasoning' in step) yield { part: 'reasoning', text: step.reasoning };
  else if ('tool_call' in step) yield* call(step.tool_call, index, request.completionId);
  else if ('wait_ms' in step) await wait(clock, step.wait_ms, request.signal);
  else if ('fail' in step) throw fault(step.fail.status);
  else unreachable(step);
}

function* call(
  asked: { readonly name: string; readonly arguments: unknown },
  index: number,
  completionId: string,
): Iterable<ModelPart> {
  // A string is sent unchanged, so that a script can also send text that is not JSON.
  const text = typeof asked.arguments === 'string' ? asked.arguments : JSON.stringify(asked.arguments);
  yield { part: 'tool_input', index, text };
  yield {
    part: 'tool_call',
    providerCallId: `scripted_${completionId}_${index}`,
    operation: asked.name,
    arguments: text,
  };
}

async function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal);
  signal.throwIfAborted();
}

function fault(status: number): ModelFault {
  const refused = status === 401 || status === 403;
  return new ModelFault({
    code: refused ? 'MODEL_REFUSED' : 'MODEL_FAILED',
    detail: `the script answers with status ${status}`,
    retryable: isRetryableStatus(status),
    status,
  });
}

async function repetition(request: ModelRequest): Promise<readonly ScriptStep[]> {
  const [last] = await request.prompt.last(1); // (S2)
  return [{ text: last === undefined ? '' : textOf(last) }];
}

function textOf(message: ModelMessage): string {
  switch (message.role) {
    case 'user':
      return plainText(message.content);
    case 'assistant':
      return message.text;
    case 'tool':
      return message.results.map((result) => plainText(result.content)).join('\n');
    default:
      return unreachable(message);
  }
}

// What a backend for agents makes of a trace. Phoenix reads spans so (phoenix.spec.ts asks a real one): by their
// operation; and a span without an operation that names a tool, or a call of one, is one more run of that tool.
import type { ReceivedSpan } from './otlp-receiver.ts';

export interface AgentRun {
  readonly agents: number;
  readonly models: number;
  readonly tools: number;
  /** Of the models' spans alone: an agent's are their sum. */
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export function agentRunOf(spans: readonly ReceivedSpan[]): AgentRun {
  const models = spans.filter((span) => operationOf(span) === 'chat');
  const sum = (name: string): number => models.reduce((all, { attributes }) => all + Number(attributes[name]), 0);
  return {
    agents: spans.filter((span) => operationOf(span) === 'invoke_agent').length,
    models: models.length,
    tools: spans.filter((span) => operationOf(span) === 'execute_tool').length,
    inputTokens: sum('gen_ai.usage.input_tokens'),
    outputTokens: sum('gen_ai.usage.output_tokens'),
  };
}

function operationOf({ attributes }: ReceivedSpan): string | null {
  const operation = attributes['gen_ai.operation.name'];
  if (operation !== undefined) return String(operation);
  return 'gen_ai.tool.name' in attributes || 'gen_ai.tool.call.id' in attributes ? 'execute_tool' : null;
}

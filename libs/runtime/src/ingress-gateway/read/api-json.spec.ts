import { describe, expect, it } from 'vitest';
import { apiCodec, apiJson, apiType } from './api-json.ts';

describe('the API’s JSON', () => {
  it('has names in snake_case and times in RFC 3339 with milliseconds', () => {
    expect(
      apiJson({ toolCallId: 'call_1', since: 0, nested: [{ expiresAt: 1_764_000_000_123 }], lastEventAt: null }),
    ).toEqual({
      tool_call_id: 'call_1',
      since: '1970-01-01T00:00:00.000Z',
      nested: [{ expires_at: '2025-11-24T16:00:00.123Z' }],
      last_event_at: null,
    });
  });

  it('leaves what is not ours alone: arguments, labels, parameters, settings by tool name', () => {
    const value = {
      arguments: { fromCity: 'Oslo', at: 7 },
      argumentsAllowed: { toCity: 'Rome', since: 7 },
      metadata: { teamName: 'a' },
      parameters: { topP: 1 },
      toolTimeoutMs: { slowJob: 5 },
      approve: { tools: { myTool: 'always' } },
    };
    expect(apiJson(value)).toEqual({
      arguments: { fromCity: 'Oslo', at: 7 },
      arguments_allowed: { toCity: 'Rome', since: 7 },
      metadata: { teamName: 'a' },
      parameters: { topP: 1 },
      tool_timeout_ms: { slowJob: 5 },
      approve: { tools: { myTool: 'always' } },
    });
  });

  it('names events as clients know them', () => {
    expect(['MessageAccepted', 'ToolCallLateResult', 'ThreadClosed'].map(apiType)).toEqual([
      'message_accepted',
      'tool_call_late_result',
      'thread_closed',
    ]);
  });

  it('gives back what it took', () => {
    const body = {
      base_url: 'https://a.example',
      tool_timeout_ms: { slow_job: 1 },
      approve: { tools: { my_tool: 'never' } },
      parameters: { top_p: 1 },
    };
    expect(apiJson(apiCodec.toCode(body))).toEqual(body);
  });
});

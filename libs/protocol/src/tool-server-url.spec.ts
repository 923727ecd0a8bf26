import { describe, expect, it } from 'vitest';
import { toolServerUrl } from './tool-server-url.ts';

describe('tool server URL', () => {
  it.each([
    ['https://tool.example.com', 'https://tool.example.com/.well-known/rap-toolset'],
    ['https://tool.example.com/', 'https://tool.example.com/.well-known/rap-toolset'],
    ['https://example.com/tools/weather', 'https://example.com/tools/weather/.well-known/rap-toolset'],
    ['https://example.com/tools/weather//', 'https://example.com/tools/weather/.well-known/rap-toolset'],
  ])('R17 discovery below %s', (base, url) => {
    expect(toolServerUrl(base, 'discovery')).toBe(url);
  });

  it('R59 R64 R101 notices go below the same base', () => {
    expect(toolServerUrl('http://a/b/', 'closeThread')).toBe('http://a/b/close_thread');
    expect(toolServerUrl('http://a/b', 'cancelToolCall')).toBe('http://a/b/cancel_tool_call');
    expect(toolServerUrl('http://a/b', 'migrate')).toBe('http://a/b/migrate');
  });
});

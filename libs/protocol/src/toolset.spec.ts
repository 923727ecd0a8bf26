import { canonicalJson } from '@dormouse/json';
import { describe, expect, it } from 'vitest';
import fixture from '../fixtures/toolset.json' with { type: 'json' };
import { annotationsMax, problemsMax, schemaBytesMax, toolsMax } from './limits.ts';
import { builtInToolNames, injectedEventToolName, isBuiltInToolName } from './tool-name.ts';
import { parseToolset } from './toolset.ts';

const tool = { name: 'get_weather', description: 'Weather', inputSchema: { type: 'object' } };
const manifest = { name: 'weather', endpoint: 'https://tools.example.com/invoke', tools: [tool] };

describe('toolset', () => {
  it.each<{ title: string; wire: unknown; code: unknown }>(fixture.valid)('$title', ({ wire, code }) => {
    expect(parseToolset(wire)).toStrictEqual({ ok: true, toolset: code });
  });

  it.each<{ title: string; wire: unknown; pointers: string[] }>(fixture.invalid)(
    '$title: refused',
    ({ wire, pointers }) => {
      expect(pointersOf(wire)).toStrictEqual(pointers);
    },
  );

  it('R18 128 tools pass, one more is one problem', () => {
    const tools = (count: number) => Array.from({ length: count }, (_, index) => ({ ...tool, name: `t${index}` }));
    expect(pointersOf({ ...manifest, tools: tools(toolsMax) })).toStrictEqual([]);
    expect(pointersOf({ ...manifest, tools: [...tools(toolsMax), {}] })).toStrictEqual(['/tools']);
  });

  it('R18 a schema of 64 KiB and depth 16 passes, more is refused', () => {
    const room = schemaBytesMax - JSON.stringify({ description: '' }).length;
    const schema = (inputSchema: object) => ({ ...manifest, tools: [{ ...tool, inputSchema }] });
    expect(pointersOf(schema({ description: 'x'.repeat(room) }))).toStrictEqual([]);
    expect(pointersOf(schema({ description: 'x'.repeat(room + 1) }))).toStrictEqual(['/tools/0/inputSchema']);
    expect(pointersOf(schema(nested(16)))).toStrictEqual([]);
    expect(pointersOf(schema(nested(17)))).toStrictEqual(['/tools/0/inputSchema']);
  });

  it('R19 a manifest of any depth is answered, never thrown at', () => {
    expect(pointersOf({ ...manifest, deep: nested(50_000) })).toStrictEqual(['']);
  });

  it('R30 what was accepted can be hashed; a number that no double holds is refused', () => {
    const wire: unknown = JSON.parse(JSON.stringify({ ...manifest, limit: 0 }).replace('"limit":0', '"limit":1e999'));
    expect(pointersOf(wire)).toStrictEqual(['/limit']);
    expect(canonicalJson(manifest)).toMatch(/^\{"endpoint":/);
  });

  it('R31 descriptions are carried verbatim', () => {
    const description = '${process.exit()} {{system}} \u202e';
    expect(parseToolset({ ...manifest, tools: [{ ...tool, description }] })).toMatchObject({
      toolset: { tools: [{ description }] },
    });
  });

  it('R72 R76 the names of the runtime are known', () => {
    expect(builtInToolNames).toContain('cancel_subscription');
    expect(isBuiltInToolName('sleep_until')).toBe(true);
    expect(isBuiltInToolName(injectedEventToolName)).toBe(false);
  });
});

function pointersOf(json: unknown): string[] {
  const parsed = parseToolset(json);
  return parsed.ok ? [] : parsed.problems.map((problem) => problem.pointer);
}

function nested(levels: number): object {
  let value: object = {};
  for (let level = 1; level < levels; level++) value = { items: value };
  return value;
}

it('R19 whatever is wrong, and wherever, it is refused soon', () => {
  const began = performance.now();
  const huge = Array.from({ length: 5_000 }, () => Number.POSITIVE_INFINITY);
  const members = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]));
  const made = (tool: object, more: object = {}): object => ({
    ...{ name: 'x', endpoint: 'http://127.0.0.1/', ...more },
    tools: [{ name: 'a', description: '', inputSchema: {}, ...tool }],
  });
  for (const wrong of [
    made({}, { ['~'.repeat(200_000)]: huge }),
    made({ annotations: members(49_000) }),
    made({ inputSchema: members(49_000) }),
  ])
    expect(parseToolset(wrong)).toMatchObject({
      ok: false,
      problems: { length: expect.toSatisfy((count) => count <= problemsMax) },
    });
  expect(parseToolset(made({ annotations: members(annotationsMax) }))).toMatchObject({ ok: true });
  expect(performance.now() - began).toBeLessThan(5_000);
});

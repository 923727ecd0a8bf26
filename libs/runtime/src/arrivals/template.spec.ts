import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyOf, keyProblem, rendered, renderedBytesMax, templateProblem } from './template.ts';

const body = {
  action: 'opened',
  issue: { id: 7, title: 'It {{/action}} {{x}}', labels: [{ name: 'bug' }], 'a/b~c': true, body: null },
};

describe('a message', () => {
  it('has strings as they are, other values as JSON, and nothing for what is not there', () => {
    expect(rendered('{{/action}}: {{/issue/id}}, {{/issue/labels}}, {{ /issue/labels/0/name }}', body)).toBe(
      'opened: 7, [{"name":"bug"}], bug',
    );
    expect(rendered('[{{/issue/none}}{{/issue/labels/1}}{{/issue/labels/00/name}}{{/action/0}}]', body)).toBe('[]');
    expect(rendered('{{/issue/a~1b~0c}} {{/issue/body}}', body)).toBe('true null');
  });

  it('is rendered once: what a sender writes is no template', () => {
    expect(rendered('{{/issue/title}} {{word}} {}', body)).toBe('It {{/action}} {{x}} {{word}} {}');
  });

  it('(L1) reaches no member that every object has', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'length'])
      expect(rendered(`{{/issue/${name}}}{{/issue/labels/${name}}}`, body)).toBe('');
  });

  it('(L2) is cut at 64 KiB of UTF-8, not inside a character, and says so', () => {
    expect(rendered('{{/a}}', { a: 'x'.repeat(renderedBytesMax) })).toHaveLength(renderedBytesMax);
    fc.assert(
      fc.property(fc.constantFrom('x', 'ż', '🐢'), fc.nat({ max: 3 }), (character, shift) => {
        const words = rendered('{{/a}}', { a: 'y'.repeat(shift) + character.repeat(renderedBytesMax + 1) });
        expect(Buffer.byteLength(words)).toBeLessThanOrEqual(renderedBytesMax);
        expect(Buffer.byteLength(words)).toBeGreaterThan(renderedBytesMax - 4);
        expect(words).toMatch(/\n\[cut at 64 KiB\]$/);
        expect(words).not.toContain('\u{fffd}');
      }),
      { numRuns: 12 },
    );
  });

  it('(L2) is not made much longer than that before it is cut', () => {
    let written = 0;
    const toJSON = (): string => `${++written} ${'x'.repeat(renderedBytesMax)}`;
    const cut = rendered('{{/a}}'.repeat(9_000), { a: { toJSON } });
    expect([Buffer.byteLength(cut), cut.slice(0, 4), written]).toEqual([renderedBytesMax, '"1 x', 1]);
    expect(rendered('{{/a}}'.repeat(9_000), { a: '🐢'.repeat(2_000_000) })).toMatch(/^🐢+\n\[cut at 64 KiB\]$/u);
  });

  it.each([
    ['{{/', ' '],
    ['', '{{/ '],
    ['{{', ' '],
    ['', '{'],
    ['{{', '/'],
    ['', '{{/a} '],
  ])('(L4) takes no longer for a line of %j and many %j', (before, repeated) => {
    const template = before + repeated.repeat(Math.floor(65_000 / repeated.length));
    const begun = process.cpuUsage();
    expect([templateProblem(template), rendered(template, body)]).toEqual([null, template]);
    const { user, system } = process.cpuUsage(begun);
    expect((user + system) / 1_000).toBeLessThan(500);
  });

  it('is refused with a pointer that is none', () => {
    expect(templateProblem('{{/a~2}}')).toContain('JSON Pointer');
    for (const fine of ['plain', '{{/a}} {{/b/0/c~1d}}', '{{name}}', '{{}}', '{{/}}'])
      expect(templateProblem(fine)).toBeNull();
  });
});

describe('a key', () => {
  it('is a pointer or a header', () => {
    for (const good of ['/a', '/issue/id', '/a~0b/~1', '/', 'header:X-Customer-Id'])
      expect(keyProblem(good)).toBeNull();
    for (const bad of ['a', 'issue.id', '/a~', 'header:', 'header:a b', 'Header:a', '$.a', '']) {
      expect(keyProblem(bad)).not.toBeNull();
    }
  });

  it('(L3) names a thread by a string, a number or a boolean', () => {
    expect(keyOf('/issue/id', body, {})).toBe('7');
    expect(keyOf('/action', body, {})).toBe('opened');
    expect(keyOf('/issue/a~1b~0c', body, {})).toBe('true');
    expect(keyOf('header:X-Customer', body, { 'x-customer': 'c-1' })).toBe('c-1');
    for (const none of ['/issue', '/issue/labels', '/issue/body', '/none', 'header:x-none'])
      expect(keyOf(none, body, { 'x-other': 'y' })).toBeNull();
    expect(keyOf('/a', { a: '' }, {})).toBeNull();
  });

  it('that is longer than an external id stands for itself as a hash', () => {
    const long = keyOf('/a', { a: 'x'.repeat(500) }, {});
    expect(long).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(keyOf('/a', { a: 'x'.repeat(501) }, {})).not.toBe(long);
  });
});

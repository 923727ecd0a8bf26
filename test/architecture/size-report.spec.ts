import { describe, expect, it } from 'vitest';
import { sizeReport } from './size-report.ts';
import { filesBelow } from './source-file.ts';

describe('the size report', () => {
  it('names long functions and files, and fails nobody', () => {
    const report = sizeReport(filesBelow('libs', 'apps'));
    if (report.length > 0) console.info(`longer than comfortable:\n  ${report.join('\n  ')}`);
    expect(report.every((line) => /^(libs|apps)\//.test(line))).toBe(true);
  });

  it('finds a function of 80 lines and a file of 500', () => {
    const body = 'f();\n'.repeat(80);
    expect(sizeReport([{ path: 'libs/thread/src/a.ts', text: `export function long() {\n${body}}` }])).toEqual([
      'libs/thread/src/a.ts:1 a function of 82 lines',
    ]);
    expect(sizeReport([{ path: 'libs/thread/src/a.ts', text: '// one\n'.repeat(500) }])).toHaveLength(1);
  });
});

import { describe, expect, it } from 'vitest';
import { importCycles } from './import-cycle.ts';
import { filesBelow } from './source-file.ts';

describe('import cycles', () => {
  it('do not exist', () => {
    expect(importCycles(filesBelow('libs', 'apps'))).toEqual([]);
  });

  it('are seen through a third file, and through types', () => {
    const ring = [
      { path: 'libs/thread/src/a.ts', text: `import { b } from './deep/b.ts';` },
      { path: 'libs/thread/src/deep/b.ts', text: `import type { C } from '../c.ts';` },
      { path: 'libs/thread/src/c.ts', text: `export * from './a.ts';` },
    ];
    expect(importCycles(ring)).toEqual([
      'libs/thread/src/a.ts → libs/thread/src/deep/b.ts → libs/thread/src/c.ts → libs/thread/src/a.ts',
    ]);
  });

  it('are not two ways to the same file', () => {
    const diamond = [
      { path: 'libs/thread/src/a.ts', text: `import './b.ts'; import './c.ts';` },
      { path: 'libs/thread/src/b.ts', text: `import './d.ts';` },
      { path: 'libs/thread/src/c.ts', text: `import './d.ts';` },
      { path: 'libs/thread/src/d.ts', text: `export const d = 1;` },
    ];
    expect(importCycles(diamond)).toEqual([]);
  });
});

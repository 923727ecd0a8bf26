import { describe, expect, it } from 'vitest';
import { declaredDependencies, dependencyLine, layersOf } from './dependency-line.ts';
import { filesBelow } from './source-file.ts';

const house = filesBelow('libs', 'apps');
const layers = layersOf(house);

describe('the dependency line', () => {
  it('is kept by every file', () => {
    expect(house.length).toBeGreaterThan(30);
    expect(dependencyLine(house, layers)).toEqual([]);
  });

  it.each([
    ['libs/protocol/src/a.ts', '@dormouse/thread'],
    ['libs/thread/src/a.ts', '@dormouse/ports'],
    ['libs/thread/src/deep/a.ts', '@dormouse/runtime'],
    ['libs/ports/src/a.ts', '@dormouse/runtime'],
    ['libs/ports/src/a.ts', '@dormouse/ports/contracts'],
    ['libs/runtime/src/a.ts', '@dormouse/adapter-memory'],
    ['libs/runtime/src/a.ts', '@dormouse/host'],
    ['libs/runtime/src/a.ts', '@dormouse/testing'],
    ['libs/adapters/http/src/a.ts', '@dormouse/runtime'],
    ['libs/adapters/http/src/a.ts', '@dormouse/adapter-memory'],
    ['libs/host/src/a.ts', '@dormouse/client'],
    ['libs/host/src/a.ts', '@dormouse/testing'],
    ['libs/client/src/a.ts', '@dormouse/protocol'],
    ['libs/testing/src/a.ts', '@dormouse/host'],
    ['apps/notifier/src/main.ts', '@dormouse/runtime'],
    ['apps/cli/src/main.ts', '@dormouse/host'],
    ['apps/example-tools/src/main.ts', '@dormouse/thread'],
    ['libs/thread/src/a.spec.ts', '@dormouse/host'],
    ['libs/thread/src/a.ts', '../../protocol/src/index.ts'],
    ['libs/adapters/http/src/a.ts', '../../memory/src/index.ts'],
    ['libs/thread/src/a.ts', 'node:crypto'],
    ['libs/runtime/src/a.ts', '@nestjs/common'],
    ['apps/cli/src/other.ts', '@nestjs/core'],
  ])('refuses %s → %s', (path, specifier) => {
    for (const text of [
      `import { x } from '${specifier}';`,
      `import type { X } from '${specifier}';`,
      `export * from '${specifier}';`,
      `const x = await import('${specifier}');`,
    ]) {
      expect(dependencyLine([{ path, text }], layers), text).toHaveLength(1);
    }
  });

  it.each([
    ['libs/thread/src/a.ts', '@dormouse/protocol'],
    ['libs/thread/src/a.spec.ts', '@dormouse/testing'],
    ['libs/runtime/src/a.spec.ts', '@dormouse/adapter-memory'],
    ['libs/adapters/memory/src/a.spec.ts', '@dormouse/ports/contracts'],
    ['libs/host/src/a.ts', '@nestjs/common'],
    ['apps/standalone/src/main.ts', '@nestjs/core'],
    ['apps/standalone/src/main.ts', '@dormouse/host'],
    ['libs/runtime/src/deep/a.ts', '../b.ts'],
    ['libs/runtime/src/a.ts', 'node:crypto'],
  ])('allows %s → %s', (path, specifier) => {
    expect(dependencyLine([{ path, text: `import { x } from '${specifier}';` }], layers)).toEqual([]);
  });

  it('refuses a package without a layer', () => {
    const text = '{"name":"@dormouse/new","nx":{"tags":["layer:cellar"]}}';
    expect(() => layersOf([{ path: 'libs/new/package.json', text }])).toThrow('names no layer');
  });
});

describe('declared dependencies', () => {
  const manifest = {
    path: 'libs/thread/package.json',
    text: '{"dependencies": {"@dormouse/protocol": "*"}, "devDependencies": {"ulid": "3"}}',
  };

  it('are all that any file imports', () => {
    expect(declaredDependencies(house)).toEqual([]);
  });

  it('miss a package that only hoisting provides', () => {
    const file = { path: 'libs/thread/src/a.ts', text: `import { z } from 'zod/mini';` };
    expect(declaredDependencies([manifest, file])).toHaveLength(1);
  });

  it('include devDependencies for specs and configurations only', () => {
    const text = `import { ulid } from 'ulid';`;
    expect(declaredDependencies([manifest, { path: 'libs/thread/src/a.spec.ts', text }])).toEqual([]);
    expect(declaredDependencies([manifest, { path: 'libs/thread/vite.config.ts', text }])).toEqual([]);
    expect(declaredDependencies([manifest, { path: 'libs/thread/src/a.ts', text }])).toHaveLength(1);
  });
});

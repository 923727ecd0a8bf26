// No file imports itself through others of its package, not even for a type: a cycle means two files are one subject.
import { importsOf, isTypeScript, resolved, type SourceFile, type Violation } from './source-file.ts';

export function importCycles(files: readonly SourceFile[]): Violation[] {
  const graph = new Map(files.filter(isTypeScript).map((file) => [file.path, neighbours(file)]));
  const done = new Set<string>();
  const found: Violation[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) found.push([...trail.slice(at), path].join(' → '));
    if (at >= 0 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  return found;
}

function neighbours(file: SourceFile): string[] {
  return importsOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => resolved(file, specifier));
}

// Given to a process with `--import`: the server with one part broken on purpose, for the proof that the fuzzer finds
// it.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { mutants } from './mutants.ts';

const name = process.env['FUZZ_MUTANT'] ?? '';
const mutant = mutants[name];
if (mutant === undefined) throw new Error(`there is no mutant ${name}`);

registerHooks({
  load(url, context, next) {
    if (!url.endsWith(`/libs/${mutant.library}/dist/index.js`)) return next(url, context);
    const text = readFileSync(fileURLToPath(url), 'utf8');
    if (text.split(mutant.whole).length !== 2) throw new Error(`${mutant.library} has not once: ${mutant.whole}`);
    return { format: 'module', shortCircuit: true, source: text.replace(mutant.whole, mutant.broken) };
  },
});

// Given to the services of a chaos run with `--import`: their places for tool calls and for completions are few, so
// that a crowd of twice as many fits a small machine. The limits are options of the packages, and no setting of an
// installation.
import { registerHooks } from 'node:module';

const replaced = new Map(
  ['adapter-kafka', 'runtime'].map((name) => [
    `@dormouse/${name}`,
    new URL(`lowered-${name}.ts`, import.meta.url).href,
  ]),
);

registerHooks({
  resolve: (specifier, context, next) => {
    const url = replaced.get(specifier);
    return next(url === undefined || context.parentURL === url ? specifier : url, context);
  },
});

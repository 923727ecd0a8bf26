// Given to the standalone app with `--import`: its stores hold contents in the clear, so that what sealing costs can be
// measured. No setting of an installation does this.
import { registerHooks } from 'node:module';

const sealing = '@dormouse/runtime';
const unsealed = new URL('unsealed-runtime.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === sealing && context.parentURL !== unsealed ? unsealed : specifier, context),
});

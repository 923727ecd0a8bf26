// A sealer that encrypts nothing but still refuses the wrong owner: for specs and the simulator.
import type { Sealer } from '@dormouse/ports';

export const plainSealer: Sealer = {
  seal: ({ tenant, name }, value) => JSON.stringify([tenant, name, value]),
  open: ({ tenant, name }, sealed) => {
    const [ofTenant, ofName, value] = JSON.parse(sealed) as readonly string[];
    if (ofTenant !== tenant || ofName !== name || value === undefined) throw new Error('sealed for another owner');
    return value;
  },
};

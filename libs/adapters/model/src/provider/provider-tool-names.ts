// Converts tool names into the form that a provider accepts, and back. Providers allow letters, digits, `_` and `-`,
// and few of them more than 64 characters; the protocol allows 128.
//
// Invariants:
//   P1. A name that is allowed is sent unchanged.
//   P2. A changed name is a function of the name alone, so that history and definitions agree in every request.
//   P3. Two offered tools never share a name on the wire; a name that was not offered is returned unchanged.
import { createHash } from 'node:crypto';

export interface ToolNames {
  onWire(name: string): string;
  fromWire(wire: string): string;
}

const digestCharacters = 8;

export function toolNames(offered: readonly string[], charactersMax: number): ToolNames {
  const onWire = (name: string): string => wireName(name, charactersMax);
  const names = new Map(offered.map((name) => [onWire(name), name]));
  return { onWire, fromWire: (wire) => names.get(wire) ?? wire };
}

function wireName(name: string, charactersMax: number): string {
  const allowed = name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  if (allowed === name && name.length <= charactersMax) return name; // (P1)
  const digest = createHash('sha256').update(name).digest('hex').slice(0, digestCharacters); // (P2)
  return `${allowed.slice(0, charactersMax - digestCharacters - 1)}_${digest}`;
}

// Judges the arguments with which a person allows a call instead of the model's: by the schema of the very definition
// that the call was decided on, and by the limits that the model's arguments have.
import type { TenantId } from '@dormouse/ports';
import { fitsBytes } from '@dormouse/protocol';
import { type Call, threadLimits } from '@dormouse/thread';
import type { IngressParts } from '../ingress-ports.ts';
import { readDefinitions } from '../../toolset-definitions.ts';

export type EditPorts = Pick<IngressParts, 'toolsets' | 'validateArguments'>;

/** Why these arguments cannot be sent, or null. @throws Fault */
export async function editProblem(
  { toolsets, validateArguments }: EditPorts,
  tenant: TenantId,
  { operation, toolServer, toolsetSha256 }: Call,
  edited: Readonly<Record<string, unknown>>,
): Promise<string | null> {
  if (!fitsBytes(JSON.stringify(edited), threadLimits.argumentsBytesMax))
    return `allows at most ${threadLimits.argumentsBytesMax} bytes`;
  if (validateArguments === null) return null;
  const all = await readDefinitions(toolsets, tenant, { sha256: toolsetSha256, toolServer });
  const definition = all.find(({ name }) => name === operation);
  return definition === undefined ? null : validateArguments(definition, edited);
}

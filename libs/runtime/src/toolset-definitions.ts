// The tools that a stored manifest defines.
import { Fault, type ToolDefinition, type Toolsets, type TenantId } from '@dormouse/ports';
import type { LoadedToolset } from '@dormouse/thread';

interface Manifest {
  readonly tools: readonly {
    readonly name: string;
    readonly description?: string;
    readonly inputSchema: Readonly<Record<string, unknown>>;
  }[];
}

/** @throws Fault STATE_UNAVAILABLE when the manifest is missing. */
export async function readDefinitions(
  toolsets: Toolsets,
  tenant: TenantId,
  { sha256, toolServer }: Pick<LoadedToolset, 'sha256'> & { readonly toolServer: string | null },
): Promise<readonly ToolDefinition[]> {
  const stored = await toolsets.get(tenant, sha256);
  if (stored === null)
    throw new Fault('STATE_UNAVAILABLE', `manifest ${sha256} of ${toolServer ?? 'no tool server'} is missing`);
  const manifest = JSON.parse(stored.manifest) as Manifest; // found valid when it was stored
  return manifest.tools.map(({ name, description, inputSchema }) => ({
    name,
    description: description ?? '',
    inputSchema,
  }));
}

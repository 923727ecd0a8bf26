// What a data directory holds before its first conversation: the development key, the example tool server, an agent.
//
// Invariants:
//   S1. The key is made once, in a file only its owner reads; it is registered at every start, so that the file is
//       valid.
//   S2. Seeding again changes nothing, except the example server's addresses when it moved. The endpoint is registered
//       too, because threads keep the manifest of their first day, and another program may have the port since.
import { join } from 'node:path';
import { Fault, type Entropy, localTenant } from '@dormouse/ports';
import { apiCodec, type Ingress, newKey } from '@dormouse/runtime';
import { newAgent } from '../api/agents.ts';
import { readOrCreate } from '../platform/private-file.ts';

export const standaloneTenant = localTenant;
/** Of the bootstrap key of a cluster. */
export const clusterTenant = localTenant;
export const exampleServer = 'example-tools';
export const exampleAgent = 'assistant';

export interface ExampleAddress {
  /** Base URL. */
  readonly url: string;
  /** Where invocations go. */
  readonly endpoint: string;
}

export interface SeededKey {
  readonly file: string;
  readonly key: string;
  readonly isNew: boolean;
}

/** `given` (DORMOUSE_BOOTSTRAP_KEY) becomes the key of a new directory, and a further key of an existing one. */
export async function seedKey(ingress: Ingress, entropy: Entropy, dataDir: string, given?: string): Promise<SeededKey> {
  const file = join(dataDir, 'key');
  let isNew = false;
  const key = await readOrCreate(file, () => {
    isNew = given === undefined; // a key from the environment is not printed
    return given ?? newKey(entropy);
  });
  await ingress.keys.ensure(standaloneTenant, 'development', key); // (S1)
  if (given !== undefined) await ingress.keys.ensure(standaloneTenant, 'bootstrap', given);
  return { file, key, isNew };
}

export async function seedExamples(ingress: Ingress, tools: ExampleAddress): Promise<void> {
  const addresses = { baseUrl: tools.url, endpointOverride: tools.endpoint };
  const registration = {
    ...{ name: exampleServer, ...addresses, auth: null },
    ...{ forwardUserId: false, trustAnnotations: false, pinnedSha256: null },
  };
  const existing = await ingress.toolServers.get(standaloneTenant, exampleServer);
  if (!existing.ok) must(await ingress.toolServers.create(standaloneTenant, registration));
  else if (existing.value.endpointOverride !== tools.endpoint)
    must(await ingress.toolServers.patch(standaloneTenant, exampleServer, addresses)); // (S2)
  const agent = await ingress.agents.get(standaloneTenant, exampleAgent);
  if (agent.ok) return;
  const { name, ...content } = newAgent.parse({
    name: exampleAgent,
    instructions: 'You are a helpful assistant. Use your tools when they help.',
    model: { provider: 'demo' },
    tool_servers: [exampleServer],
  });
  must(await ingress.agents.create(standaloneTenant, name, apiCodec.toCode(content)));
}

function must(
  answer:
    Awaited<ReturnType<Ingress['agents']['create']>> | Awaited<ReturnType<Ingress['toolServers']['create' | 'patch']>>,
): void {
  if (!answer.ok) throw new Fault('UNAVAILABLE', `The examples could not be set up: ${answer.refusal.detail}`);
}

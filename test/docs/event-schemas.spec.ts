// Events of simulated universes against their schemas, strictly: a field that is not described, a value that is not
// named, a description of something that is never there are all seen.
import { Validator, type Schema } from '@cfworker/json-schema';
import { eventExamples, openApiDocument } from '@dormouse/host';
import { type ApiEvent, apiEvent, placedEvents } from '@dormouse/runtime';
import { judgeSeed, type Mutant, soundInstallation, type Topology } from '@dormouse/testing';
import type { ThreadEvent } from '@dormouse/thread';
import { beforeAll, describe, expect, it } from 'vitest';

type Json = Readonly<Record<string, unknown>>;
type World = Parameters<NonNullable<Mutant['world']>>[0];

/** No other fields, no other values. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { 'x-extensible-enum': values, discriminator: _, ...rest } = schema as Json;
  const members = Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, strict(member)]));
  return {
    ...members,
    ...(Array.isArray(values) ? { enum: values } : {}),
    ...('properties' in members && !('additionalProperties' in members) ? { additionalProperties: false } : {}),
  };
}

const document = JSON.parse(JSON.stringify(openApiDocument('0.0.0')).replaceAll('#/components/schemas/', '#/$defs/'));
const $defs = strict(document.components.schemas) as Record<string, Json>;
const schemaNames = new Map(
  Object.entries($defs).flatMap(([name, { properties }]) => {
    const type = (properties as { readonly type?: { readonly const?: unknown } } | undefined)?.type?.const;
    return name.endsWith('Event') && typeof type === 'string' ? [[type, name] as const] : [];
  }),
);
const validators = new Map(
  [...schemaNames].map(([type, name]) => [
    type,
    new Validator({ $defs, $ref: `#/$defs/${name}` } as Schema, '2020-12'),
  ]),
);

function problemsOf(event: ApiEvent): readonly string[] {
  const result = validators.get(event.type)?.validate(JSON.parse(JSON.stringify(event)));
  if (result === undefined) return ['there is no such type'];
  return result.errors.map(({ instanceLocation, error }) => `${event.type} ${instanceLocation}: ${error}`);
}

async function eventsOf(seed: number, topology: Topology): Promise<readonly ApiEvent[]> {
  const seen: World[] = [];
  await judgeSeed({ seed, topology, mutant: { ...soundInstallation, world: (world) => void seen.push(world) } });
  return seen.flatMap((world) =>
    world.threads().flatMap((key) => world.commits(key).flatMap((commit) => placedEvents(commit).map(apiEvent))),
  );
}

const stamp = { turnId: 'msg_1', cause: { kind: 'message', id: 'msg_1' } } as const;
const content = [{ type: 'text', text: 'hello' }] as const;

/** What no client of a universe asks for. */
const rare: readonly ThreadEvent[] = [
  { type: 'MigrationStarted', migrationId: 'mig_1', toolServers: { tools: 'https://tools.example' } },
  { type: 'MigrationEnded', migrationId: 'mig_1', ok: true, migrated: ['tools'], problems: [] },
  { type: 'ParentMessageReceived', content },
  { type: 'ExternalEventReceived', source: 'billing', eventId: 'e-1', content, associative: false, childId: 'thr_2' },
  {
    type: 'ScheduleSet',
    scheduleId: 'sch_1',
    schedule: { cron: '* * * * *', timeZone: 'UTC', message: 'hi', missed: 'skip' },
  },
  { type: 'ScheduleCame', scheduleId: 'sch_1', scheduledFor: 0, missed: 0, skipped: false, content },
  { type: 'ScheduleRemoved', scheduleId: 'sch_1' },
  { type: 'CredentialRefreshFailed', toolServer: 'tools', userId: 'ann' },
  { type: 'ThreadForked', from: { threadId: 'thr_1', position: 3 }, askAgain: true },
  { type: 'ToolsetChanged', toolServer: 'tools', added: ['a'], removed: [], changed: [] },
  { type: 'ChoiceAssigned', choiceId: 'chc_1', assignees: ['ann'], by: 'ops' },
  { type: 'ContentErased', scope: 'family', certificate: 'ers_1' },
  { type: 'ContentErased', scope: 'event', certificate: null },
];

describe('the events of simulated universes', () => {
  const events: ApiEvent[] = [];
  beforeAll(async () => {
    for (let seed = 1; seed <= 32; seed += 1)
      events.push(...(await eventsOf(seed, seed % 2 === 0 ? 'durable' : 'standalone')));
  });

  it('are as they are described', () => {
    expect(events.length).toBeGreaterThan(1_000);
    expect([...new Set(events.flatMap(problemsOf))]).toEqual([]);
  });

  it('have every type, with those that universes never have', () => {
    const samples = rare.map((event) => apiEvent({ position: 1, at: 0, event: { ...event, ...stamp } }));
    expect(samples.flatMap(problemsOf)).toEqual([]);
    const met = new Set([...events, ...samples].map(({ type }) => type));
    expect([...schemaNames.keys()].filter((type) => !met.has(type))).toEqual([]);
  });

  it('are not as described with one field more, or one less', () => {
    const [event] = events;
    if (event === undefined) throw new Error('there is no event');
    expect(problemsOf({ ...event, surprise: 1 })).not.toEqual([]);
    const { turn_id: _, ...less } = event;
    expect(problemsOf(less as ApiEvent)).not.toEqual([]);
  });
});

describe('the example of each event', () => {
  it('X1 is there, and is as it is described', () => {
    const examples = eventExamples();
    expect([...examples.keys()].toSorted()).toEqual([...schemaNames.keys()].toSorted());
    expect([...examples.values()].flatMap(problemsOf)).toEqual([]);
  });
});

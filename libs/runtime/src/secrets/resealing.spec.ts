import { createManualClock, createMemoryWorld } from '@dormouse/adapter-memory';
import { credentialOwner, newTenant, type RotatingSealer, tenantId, type TenantId, localTenant } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import {
  createResealing,
  placeOfCredentials,
  placeOfFamilyKeys,
  placeOfSecrets,
  placeOfSources,
  placeOfWebhooks,
} from './resealing.ts';

/** `KEY:TENANT:NAME:VALUE`, which opens with `old` and `new`. */
const sealer: RotatingSealer = {
  seal: ({ tenant, name }, value) => ['new', tenant, name, value].join(':'),
  open: ({ tenant, name }, sealed) => {
    const [key = '', ...rest] = sealed.split(':');
    const value = rest.at(-1) ?? '';
    if (!['old', 'new'].includes(key) || [tenant, name, value].join() !== rest.join()) throw new Error('does not open');
    return value;
  },
  isInUse: (sealed) => sealed.startsWith('new:'),
};

async function rig(tenants = 3) {
  const clock = createManualClock();
  const world = createMemoryWorld({ clock });
  const ports = world.ports('one');
  const names = [localTenant, ...Array.from({ length: tenants }, (_, nth) => tenantId(`tenant-${nth}`))];
  for (const tenant of names) {
    if (tenant !== 'local') await ports.tenants.insert(newTenant(tenant, 0));
    for (const name of ['a', 'b'])
      await ports.secrets.put({ tenant, name, origins: [], sealed: `old:${tenant}:${name}:v`, createdAt: 0 });
  }
  const sealedOf = async (): Promise<readonly string[]> =>
    (await Promise.all(names.map((tenant) => ports.secrets.list(tenant)))).flat().map(({ sealed }) => sealed);
  return { clock, ports, sealedOf };
}

describe('sealing again', () => {
  it('R2 reaches every secret of every tenant, and then has nothing to do', async () => {
    const { clock, ports, sealedOf } = await rig(250);
    const reseal = createResealing({ ...ports, clock, sealer, places: [placeOfSecrets(ports.secrets)] });
    expect(await reseal(60_000)).toEqual({ resealed: 502, unreadable: [], isDone: true });
    expect((await sealedOf()).every((sealed) => sealed.startsWith('new:'))).toBe(true);
    expect(await reseal(60_000)).toEqual({ resealed: 0, unreadable: [], isDone: true });
  });

  it('R2 goes on where it was broken off', async () => {
    const { clock, ports, sealedOf } = await rig();
    let left = 3;
    const ticking = { now: () => (left > 0 ? clock.now() : clock.now() + 1_000) };
    const counted = {
      ...ports.secrets,
      replace: (...given: Parameters<typeof ports.secrets.replace>) => ((left -= 1), ports.secrets.replace(...given)),
    };
    const reseal = createResealing({ ...ports, clock: ticking, sealer, places: [placeOfSecrets(counted)] });
    expect(await reseal(1_000)).toMatchObject({ resealed: 3, isDone: false });
    left = 100;
    expect(await reseal(1_000)).toMatchObject({ resealed: 5, isDone: true });
    expect((await sealedOf()).every((sealed) => sealed.startsWith('new:'))).toBe(true);
  });

  it('R1 leaves what was set meanwhile, and is not done then', async () => {
    const { clock, ports } = await rig(0);
    const secret = {
      tenant: tenantId('local'),
      name: 'a',
      origins: [],
      sealed: 'new:local:a:set meanwhile',
      createdAt: 1,
    };
    const raced = {
      list: async (tenant: TenantId) => {
        const read = await ports.secrets.list(tenant);
        if (read.some(({ sealed }) => sealed === 'old:local:a:v')) await ports.secrets.put(secret);
        return read;
      },
      replace: (...given: Parameters<typeof ports.secrets.replace>) => ports.secrets.replace(...given),
    };
    const reseal = createResealing({ ...ports, clock, sealer, places: [placeOfSecrets(raced)] });
    expect(await reseal(60_000)).toMatchObject({ resealed: 1, isDone: false });
    expect(await ports.secrets.get(tenantId('local'), 'a')).toEqual(secret);
    expect(await reseal(60_000)).toMatchObject({ resealed: 0, isDone: true });
  });

  it('R2 reaches what end users have, secrets of webhooks, also the one of before, and tokens of sources', async () => {
    const { clock, ports } = await rig(0);
    const owner = credentialOwner(tenantId('local'), 'ann', 'crm');
    await ports.userCredentials.put({
      ...{ tenant: tenantId('local'), userId: 'ann', toolServer: 'crm', type: 'bearer', origin: 'https://crm.example' },
      ...{ sealed: `old:local:${owner.name}:v`, version: 1, createdAt: 0, updatedAt: 0 },
      ...{ expiresAt: null, lease: null, failedAt: null },
    });
    const sealed = 'old:local:webhook:whk_1:v';
    await ports.webhooks.insert({
      ...{
        tenant: tenantId('local'),
        id: 'whk_1',
        url: 'https://a.example',
        events: [],
        filter: null,
        state: 'active',
        sealed,
      },
      ...{
        before: { sealed, until: 9 },
        createdAt: 0,
        updatedAt: 0,
        activeSince: 0,
        failingSince: null,
        problem: null,
      },
    });
    await ports.sources.insert({
      ...{
        tenant: tenantId('local'),
        id: 'src_1',
        name: 'issues',
        kind: 'github',
        secret: 'a',
        agent: 'helper',
        key: '/id',
      },
      ...{ message: 'x', createdAt: 0, tokenSha256: 'sha', sealedToken: 'old:local:source:src_1:v' },
    });
    // Names with colons: the key is the first part, the value the last.
    const open = (each: string): string => each.split(':').at(-1) ?? '';
    const loose: RotatingSealer = { ...sealer, open: (_, each) => open(each) };
    const places = [
      placeOfCredentials(ports.userCredentials),
      placeOfWebhooks(ports.webhooks),
      placeOfSources(ports.sources),
    ];
    const reseal = createResealing({ ...ports, clock, sealer: loose, places });
    while (!(await reseal(60_000)).isDone);
    const webhook = await ports.webhooks.get(tenantId('local'), 'whk_1');
    const credential = await ports.userCredentials.get(tenantId('local'), 'ann', 'crm');
    const source = await ports.sources.get(tenantId('local'), 'issues');
    const all = [webhook?.sealed, webhook?.before?.sealed, credential?.sealed, source?.sealedToken];
    expect(all.map((each) => [each?.startsWith('new:'), open(each ?? '')])).toEqual(all.map(() => [true, 'v']));
  });

  it('R2 reaches the keys of families, but for those that were erased', async () => {
    const { clock, ports } = await rig(0);
    const tenant = tenantId('local');
    for (let nth = 0; nth < 600; nth += 1)
      await ports.familyKeys.insert({ tenant, family: `thr_${nth}`, sealed: `old:local:thr_${nth}:v` });
    await ports.familyKeys.erase(tenant, ['thr_5']);
    const loose: RotatingSealer = { ...sealer, open: (_, each) => each.split(':').at(-1) ?? '' };
    const reseal = createResealing({ ...ports, clock, sealer: loose, places: [placeOfFamilyKeys(ports.familyKeys)] });
    expect(await reseal(60_000)).toEqual({ resealed: 599, unreadable: [], isDone: true });
    const all = await ports.familyKeys.page(tenant, null, 1_000);
    expect(all.filter(({ sealed }) => sealed === null).map(({ family }) => family)).toEqual(['thr_5']);
    expect(all.filter(({ sealed }) => sealed?.startsWith('new:local:family:thr_'))).toHaveLength(599);
  });

  it('R3 tells what no key opens, and is not done', async () => {
    const { clock, ports } = await rig(0);
    await ports.secrets.put({
      tenant: tenantId('local'),
      name: 'c',
      origins: [],
      sealed: 'lost:local:c:v',
      createdAt: 0,
    });
    const reseal = createResealing({ ...ports, clock, sealer, places: [placeOfSecrets(ports.secrets)] });
    const unreadable = [{ tenant: 'local', name: 'c' }];
    expect(await reseal(60_000)).toEqual({ resealed: 2, unreadable, isDone: false });
  });

  it('R3 tells it also where there is one key, and a value does not say which has sealed it', async () => {
    const { clock, ports } = await rig(0);
    const alone: RotatingSealer = {
      ...sealer,
      open: (owner, sealed) => sealer.open(owner, sealed.replace('old:', 'lost:')),
      isInUse: () => true,
    };
    await ports.secrets.put({ tenant: localTenant, name: 'c', origins: [], sealed: 'new:local:c:v', createdAt: 0 });
    const reseal = createResealing({ ...ports, clock, sealer: alone, places: [placeOfSecrets(ports.secrets)] });
    const unreadable = ['a', 'b'].map((name) => ({ tenant: 'local', name }));
    expect(await reseal(60_000)).toEqual({ resealed: 0, unreadable, isDone: false });
  });
});

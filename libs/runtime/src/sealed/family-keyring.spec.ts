import { tenantId } from '@dormouse/ports';
import { createManualClock, createMemoryWorld, plainCipher, plainSealer } from '@dormouse/adapter-memory';
import { describe, expect, it } from 'vitest';
import { createFamilyKeyring } from './family-keyring.ts';

const acme = tenantId('acme');

function rig(keptMs = 1_000) {
  const clock = createManualClock();
  const reads: string[] = [];
  const world = createMemoryWorld({
    clock,
    gate: {
      pass: async (_node, { name }, apply) => {
        reads.push(name);
        return apply();
      },
    },
  });
  const keyring = () =>
    createFamilyKeyring({ ...world.ports('one'), sealer: plainSealer, cipher: plainCipher, clock, keptMs });
  return { clock, reads, keyring, world };
}

describe('a keyring', () => {
  it('K1 makes one key for a family, whichever process asks first', async () => {
    const { keyring } = rig();
    const [one, other] = [keyring(), keyring()];
    const keys = await Promise.all([one.forSealing(acme, 'thr_1'), other.forSealing(acme, 'thr_1')]);
    expect(keys[0]).toEqual(keys[1]);
    expect(await one.forSealing(acme, 'thr_2')).not.toEqual(keys[0]);
    expect(await one.forSealing(tenantId('zenith'), 'thr_1')).not.toEqual(keys[0]);
    expect((await other.forOpening(acme, ['thr_1'])).get('thr_1')).toEqual(keys[0]);
  });

  it('K2 reads a key once, and again when that has been too long ago', async () => {
    const { clock, reads, keyring } = rig();
    const ring = keyring();
    await ring.forSealing(acme, 'thr_1');
    reads.length = 0;
    for (let nth = 0; nth < 10; nth += 1) await ring.forOpening(acme, ['thr_1']);
    expect(reads).toEqual([]);
    await clock.advance(1_000);
    expect(ring.fresh(acme, 'thr_1')).toBeUndefined();
    await ring.forOpening(acme, ['thr_1']);
    expect(reads).toEqual(['familyKeys.get']);
  });

  it('K2 the key of an erased family is gone here at once, elsewhere in time, and is never made again', async () => {
    const { clock, keyring } = rig();
    const [one, other] = [keyring(), keyring()];
    const key = await one.forSealing(acme, 'thr_1');
    await other.forOpening(acme, ['thr_1']);
    await one.erase(acme, ['thr_1']);
    expect(one.fresh(acme, 'thr_1')).toBeNull();
    expect(await one.forSealing(acme, 'thr_1')).toBeNull();
    expect(other.fresh(acme, 'thr_1')).toEqual(key);
    await clock.advance(1_000);
    expect(await other.forSealing(acme, 'thr_1')).toBeNull();
    expect((await keyring().forOpening(acme, ['thr_1'])).get('thr_1')).toBeNull();
  });

  it('K3 forgets the keys that were read first', async () => {
    const { keyring } = rig(Number.POSITIVE_INFINITY);
    const ring = keyring();
    for (let nth = 0; nth <= 20_000; nth += 1) await ring.forSealing(acme, `thr_${nth}`);
    expect(ring.fresh(acme, 'thr_0')).toBeUndefined();
    expect(ring.fresh(acme, 'thr_1')).toBeDefined();
    expect(ring.fresh(acme, 'thr_20000')).toBeDefined();
  });

  it('K4 knows no key of a family without one', async () => {
    const { keyring } = rig();
    await expect(keyring().forOpening(acme, ['thr_1'])).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE' });
    await keyring().learn(acme, ['thr_1']);
    expect(keyring().fresh(acme, 'thr_1')).toBeUndefined();
  });
});

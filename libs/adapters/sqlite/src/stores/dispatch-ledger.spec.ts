import { Fault, tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import type { Reader } from '../file/database.ts';
import { createDispatchLedger } from './dispatch-ledger.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

const fails = (): never => {
  throw new Fault('UNAVAILABLE', 'the disk cannot be read');
};

describe('a look at a call', () => {
  it('that cannot be read is a promise that rejects: whoever asks others too does not lose their answers', async () => {
    const reader = { one: fails, all: fails } as unknown as Reader;
    const ledger = createDispatchLedger({} as GroupWriter, reader);
    const key = { tenant: tenantId('acme'), thread: 'thr_1' };
    const looks = [ledger.look(key, 'call_01ABC'), ledger.look(key, 'not_minted')];
    for (const look of looks) expect(look).toBeInstanceOf(Promise);
    for (const look of looks) await expect(look).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

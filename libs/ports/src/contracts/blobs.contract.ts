// The contract of `Blobs`, for every adapter: content-addressed, so storing twice is storing once.
import { describe, expect, it } from 'vitest';
import { tenantId, type TenantId, type Blobs } from '../index.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

const acme = tenantId('acme');
const zenith = tenantId('zenith');

export function blobsContract(name: string, make: () => Promise<UnderTest<Blobs>>): void {
  describe(`Blobs contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('every byte comes back, for this tenant only', async () => {
      const blobs = await opened.get();
      const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => index % 256);
      const put = (tenant: TenantId) => blobs.put(tenant, 'hash-1', bytes, 'image/png');
      expect(new Set(await Promise.all([put(acme), put(acme)]))).toEqual(new Set([false, true])); // one is the first
      expect(await put(acme)).toBe(false);
      const found = await blobs.get(acme, 'hash-1');
      expect(found?.mediaType).toBe('image/png');
      expect(Buffer.compare(Buffer.from(found?.bytes ?? []), Buffer.from(bytes))).toBe(0);
      expect(await blobs.get(zenith, 'hash-1')).toBeNull();
      expect(await blobs.get(acme, 'hash-2')).toBeNull();
    });

    it('what was put cannot be changed through the caller’s array', async () => {
      const blobs = await opened.get();
      const bytes = Uint8Array.of(1, 2, 3);
      await blobs.put(acme, 'hash-3', bytes, 'text/plain');
      bytes[0] = 9;
      expect([...((await blobs.get(acme, 'hash-3'))?.bytes ?? [])]).toEqual([1, 2, 3]);
    });

    it('what was removed is not there, and may be put again', async () => {
      const blobs = await opened.get();
      const put = (tenant: TenantId) => blobs.put(tenant, 'hash-6', Uint8Array.of(6), 'text/plain');
      await Promise.all([put(acme), put(zenith)]);
      await blobs.remove(acme, 'hash-6');
      await blobs.remove(acme, 'hash-6');
      expect(await blobs.get(acme, 'hash-6')).toBeNull();
      expect(await blobs.get(zenith, 'hash-6')).not.toBeNull();
      expect(await put(acme)).toBe(true);
    });

    it('an empty blob is a blob', async () => {
      const blobs = await opened.get();
      await blobs.put(acme, 'hash-4', new Uint8Array(), 'text/plain');
      expect([...((await blobs.get(acme, 'hash-4'))?.bytes ?? [1])]).toEqual([]);
    });
  });
}

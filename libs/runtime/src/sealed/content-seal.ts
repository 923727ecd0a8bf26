// Texts and bytes as stores keep them: sealed with the key of their family, which is named in front of them.
//
// Invariants:
//   S1. A sealed text begins with a character that no text of before begins with: JSON and lines have no control
//       characters. What does not begin with it was stored by an earlier release, and is as it was.
//   S2. What is sealed is bound to its place: tenant, kind and names. Another place's content does not open.
//   S3. Of a family that was erased nothing is sealed and nothing opens: both answer null.
import type { ContentKey, TenantId } from '@dormouse/ports';
import type { FamilyKeyring } from './family-keyring.ts';

/** A kind and the names that make it one place. (S2) */
export type Place = readonly string[];

export interface SealedContent {
  readonly place: Place;
  readonly text: string;
}

export interface ContentSeal {
  /** (S3) @throws Fault */
  seal(tenant: TenantId, family: string, place: Place, text: string): Promise<string | null>;
  /** (S1, S3) @throws Fault */
  open(tenant: TenantId, place: Place, text: string): Promise<string | null>;
  /** As `open`, with one question for all keys. */
  openAll(tenant: TenantId, contents: readonly SealedContent[]): Promise<readonly (string | null)[]>;
  /** So that the two below find the key of this family, if it has one. @throws Fault */
  prime(tenant: TenantId, family: string): Promise<void>;
  /** As `seal` and `open`, for callers that cannot wait: undefined when the key is not in memory. */
  sealNow(tenant: TenantId, family: string, place: Place, text: string): string | null | undefined;
  openNow(tenant: TenantId, place: Place, text: string): string | null | undefined;
  sealBytes(tenant: TenantId, family: string, place: Place, bytes: Uint8Array): Promise<Uint8Array | null>;
  openBytes(tenant: TenantId, place: Place, bytes: Uint8Array): Promise<Uint8Array | null>;
}

const mark = '\u0001';
const markByte = 1;
const familyEnd = '.';
const headBytesMax = 256;

export function createContentSeal(keyring: FamilyKeyring): ContentSeal {
  const bound = (tenant: TenantId, place: Place): string => JSON.stringify([tenant, ...place]); // (S2)

  function sealedText(key: ContentKey, tenant: TenantId, family: string, place: Place, text: string): string {
    return `${mark}${family}${familyEnd}${key.sealText(bound(tenant, place), text)}`;
  }

  const openedText = (key: ContentKey, tenant: TenantId, place: Place, { sealed }: Named): string =>
    key.openText(bound(tenant, place), sealed);

  async function openAll(tenant: TenantId, contents: readonly SealedContent[]): Promise<readonly (string | null)[]> {
    const named = contents.map(({ text }) => readName(text));
    const families = new Set(named.flatMap((each) => each?.family ?? []));
    const keys = await keyring.forOpening(tenant, families);
    return contents.map(({ place, text }, index) => {
      const name = named[index] ?? null;
      if (name === null) return text; // (S1)
      const key = keys.get(name.family) ?? null;
      return key === null ? null : openedText(key, tenant, place, name); // (S3)
    });
  }

  return {
    openAll,
    prime: (tenant, family) => keyring.learn(tenant, [family]),
    async seal(tenant, family, place, text) {
      const key = await keyring.forSealing(tenant, family);
      return key === null ? null : sealedText(key, tenant, family, place, text);
    },
    open: async (tenant, place, text) => (await openAll(tenant, [{ place, text }]))[0] ?? null,
    sealNow(tenant, family, place, text) {
      const key = keyring.fresh(tenant, family);
      return key && sealedText(key, tenant, family, place, text);
    },
    openNow(tenant, place, text) {
      const name = readName(text);
      if (name === null) return text;
      const key = keyring.fresh(tenant, name.family);
      return key && openedText(key, tenant, place, name);
    },
    async sealBytes(tenant, family, place, bytes) {
      const key = await keyring.forSealing(tenant, family);
      if (key === null) return null;
      const sealed = key.sealBytes(bound(tenant, place), bytes);
      return Buffer.concat([Buffer.from(`${mark}${family}${familyEnd}`), sealed]);
    },
    async openBytes(tenant, place, bytes) {
      const name = readByteName(bytes);
      if (name === null) return bytes;
      const key = (await keyring.forOpening(tenant, [name.family])).get(name.family) ?? null;
      return key === null ? null : key.openBytes(bound(tenant, place), name.sealed);
    },
  };
}

interface Named {
  readonly family: string;
  readonly sealed: string;
}

/** Null for what is not sealed. (S1) */
function readName(text: string): Named | null {
  if (!text.startsWith(mark)) return null;
  const end = text.indexOf(familyEnd);
  return end < 0 ? null : { family: text.slice(mark.length, end), sealed: text.slice(end + 1) };
}

/** A payload of an earlier release that begins as a sealed one does not name a family that has a key. */
function readByteName(bytes: Uint8Array): { readonly family: string; readonly sealed: Uint8Array } | null {
  if (bytes[0] !== markByte) return null;
  const end = bytes.subarray(0, headBytesMax).indexOf(familyEnd.charCodeAt(0));
  if (end < 0) return null;
  const family = Buffer.from(bytes.subarray(1, end)).toString('latin1');
  return /^\w+$/.test(family) ? { family, sealed: bytes.subarray(end + 1) } : null;
}

// The master keys of a process: opened with the key management that the settings name, and held as long as it says.
import { createVaultTransit } from '@dormouse/adapter-http';
import type { KeyManagement, Logger } from '@dormouse/ports';
import type { Config } from '../../config.ts';
import type { KeyRing } from '../key-ring.ts';
import { holdKeys } from './held-keys.ts';
import { localKeys, type OpenedKeys } from './opened-keys.ts';

export interface ProcessKeys {
  readonly ring: KeyRing;
  /** Names what has unwrapped them; null where all are in the clear. */
  readonly unwrappedBy: string | null;
  /** How many are in the clear. */
  readonly plain: number;
  /** See HeldKeys; never resolves where no key is wrapped. */
  readonly over: Promise<string>;
  close(): Promise<void>;
}

/** `read` opens the keys of a file or a setting. @throws Fault KMS_REFUSED, UNAVAILABLE, and what `read` throws. */
export async function openProcessKeys(
  config: Config,
  logger: Logger,
  read: (kms: KeyManagement) => Promise<OpenedKeys>,
): Promise<ProcessKeys> {
  const { kms, close } = keyManagementOf(config);
  try {
    const { ring, wrapped, plain } = await read(kms);
    const now = (): number => performance.now();
    const held = wrapped === null ? null : holdKeys({ kms, wrapped, heldMs: config.MASTER_KEY_HELD_MS, logger, now });
    return {
      ...{ ring, plain, unwrappedBy: wrapped === null ? null : kms.keyId },
      over: held?.over ?? new Promise(() => {}),
      close: () => {
        held?.stop();
        return close();
      },
    };
  } catch (failure) {
    await close();
    throw failure;
  }
}

function keyManagementOf(config: Config): { readonly kms: KeyManagement; readonly close: () => Promise<void> } {
  const { VAULT_URL: url, VAULT_KEY: key, VAULT_TOKEN_FILE: tokenFile, VAULT_CA_FILE: authorities } = config;
  if (url === undefined || tokenFile === undefined) return { kms: localKeys, close: () => Promise.resolve() };
  const kms = createVaultTransit({ url, key, tokenFile, authorities });
  return { kms, close: () => kms.close() };
}

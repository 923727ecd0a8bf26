import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, describedSettings, readConfig, type SettingName } from './config.ts';
import { createJsonLogger } from './platform/json-logger.ts';
import type { KeyPurpose } from './platform/key-ring.ts';
import { openPlatform, type Platform } from './platform/platform.ts';
import { servicesOf } from './services.ts';
import { type SettingReader, settingReaders } from './setting-readers.ts';

let directory: string;
let platform: Platform | null = null;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'dormouse-services-'));
});

afterEach(async () => {
  await platform?.close();
  rmSync(directory, { recursive: true });
});

describe('the services of a process', () => {
  it('K5 share their callback tokens: who takes results knows what went out with the calls', async () => {
    const read = readConfig(['--data', directory], {});
    if (read.ok !== true) throw new Error('these settings are good');
    const opened = (platform = await openPlatform('standalone', read.config, createJsonLogger('error', 'standalone')));
    const keysAsked: KeyPurpose[] = [];
    const all = opened.keys.all.map((master) => ({
      ...master,
      key: (purpose: KeyPurpose): Uint8Array => {
        keysAsked.push(purpose);
        return master.key(purpose);
      },
    }));
    const services = servicesOf(read.config, { ...opened, keys: { ...opened.keys, all } }, 'http://127.0.0.1:1');
    services.toolDispatcher();
    services.callbackGateway();
    expect(keysAsked).toEqual(['callbacks']); // each set of tokens is made with it once
  });

  it('S1 read the settings that the reference says they read', async () => {
    const read = readConfig(['--data', directory], {});
    if (read.ok !== true) throw new Error('these settings are good');
    const seen = new Set<string>();
    const config: Config = new Proxy(read.config, {
      get: (target, name) => {
        seen.add(String(name));
        return Reflect.get(target, name) as unknown;
      },
    });
    platform = await openPlatform('standalone', config, createJsonLogger('error', 'standalone'));
    const ofCluster = new Set<string>(describedSettings().flatMap((each) => (each.isOfCluster ? [each.name] : [])));
    const unexpected = [...seen].filter(
      (name) => !ofCluster.has(name) && !settingReaders[name as SettingName].includes('standalone'),
    );
    expect(unexpected).toEqual([]);
    const services = servicesOf(config, platform, 'http://127.0.0.1:1');
    const made: readonly (readonly [SettingReader, () => unknown])[] = [
      ['callback-gateway', () => services.callbackGateway()],
      ['thread-processor', () => services.threadProcessor()],
      ['tool-dispatcher', () => services.toolDispatcher()],
    ];
    for (const [reader, make] of made) {
      seen.clear();
      make();
      const own = Object.entries(settingReaders).filter(([, readers]) => readers.join() === `standalone,${reader}`);
      expect([...seen].toSorted()).toEqual(own.map(([name]) => name).toSorted());
    }
  });
});

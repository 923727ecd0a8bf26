// The alerts of a full disk, by a disk that is really full: a small file system in memory, which takes root on Linux.
// A timer is due, and its firing cannot be stored. In a cluster no process has timers while Kafka is away, so that
// there this alert stays silent, and those of the callbacks and messages that Kafka does not take fire.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import { scriptedAgent, untilEvent } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';
import { beginTurn, repeat } from './load.ts';
import { type WatchedAlerts, watchAlerts } from './watched-alerts.ts';

const firesWithinMs = 180_000;
const mebibyte = 1_048_576;
/** Just above the threshold of the rule, which is two thousand million bytes. */
const diskBytes = 2_050_000_000;
const fillerBytes = 128 * mebibyte;
/** Until then the disk is full: a timer is small, and what is stored before it takes every byte. */
const sleepSeconds = 45;
const noiseCharacters = [50_000, 5_000, 500, 5] as const;

describe('the alerts of a disk', () => {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-alerts-'));
  const disk = join(directory, 'disk');
  const filler = join(disk, 'filler');
  let at: Standalone;
  let alerts: WatchedAlerts | null = null;
  let missing: string | null = null;

  beforeAll(async () => {
    mkdirSync(disk);
    try {
      mount('size', diskBytes);
    } catch {
      return void (missing = 'a disk of its own takes root on Linux');
    }
    const health = await freePort();
    at = await startStandalone({ dataDir: join(disk, 'data'), env: { DORMOUSE_HEALTH_PORT: String(health) } });
    const watching = await watchAlerts(join(directory, 'prometheus'), { standalone: [`127.0.0.1:${health}`] });
    if (!watching.available) return void (missing = watching.reason);
    alerts = watching.alerts;
  });
  beforeEach((context) => context.skip(missing !== null, missing ?? undefined));
  afterAll(async () => {
    await alerts?.stop();
    await cleanUp();
    if (missing === null) execFileSync('umount', ['-l', disk]);
    rmSync(directory, { recursive: true, force: true });
  });

  const mount = (how: string, bytes: number): unknown =>
    execFileSync('mount', ['-t', 'tmpfs', '-o', `${how}=${bytes}`, 'tmpfs', disk], { stdio: 'pipe' });

  /** Takes this much, or all that there is. */
  function fill(bytes: number): void {
    const open = openSync(filler, 'a');
    try {
      for (let left = bytes, piece = mebibyte; left > 0 && piece >= 1;) {
        if (wasWritten(open, Math.min(left, piece))) left -= Math.min(left, piece);
        else piece = Math.floor(piece / 2);
      }
    } finally {
      closeSync(open);
    }
  }

  it('low, and then full while timers become due', async () => {
    const low = ['DormouseDiskLow'];
    const stuck = ['DormouseTimersStuck'];
    if (alerts === null) throw new Error('no Prometheus');
    await alerts.silent([...low, ...stuck], firesWithinMs);
    const script = [[toolCall('sleep', { seconds: sleepSeconds })], [{ text: 'awake' }]];
    const asleep = await scriptedAgent(at, script, { tool_servers: [] });
    fill(fillerBytes);
    await alerts.fired(low, firesWithinMs);
    await untilEvent(at, await beginTurn(at, asleep), 'timer_set');
    const { blocks, bavail, bsize } = statfsSync(disk);
    mount('remount,size', (blocks - bavail) * bsize + mebibyte);
    // The log's file may have room of its own: messages use it up, small ones what large ones leave.
    const quiet = await scriptedAgent(at, [[{ text: 'I see' }]], { tool_servers: [] });
    const noise = repeat(50, async () => {
      fill(mebibyte);
      for (const characters of noiseCharacters)
        await at.request('POST', '/v1/threads', { agent: quiet, message: { text: 'x'.repeat(characters) } });
    });
    try {
      await alerts.fired(stuck, firesWithinMs);
    } finally {
      await noise.stop();
    }
    rmSync(filler);
    await alerts.silent(stuck, firesWithinMs);
  });
});

function wasWritten(open: number, bytes: number): boolean {
  try {
    return writeSync(open, Buffer.alloc(bytes, 1)) === bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}

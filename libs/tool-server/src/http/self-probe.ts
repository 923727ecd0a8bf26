/**
 * Owns: whether this server answers, tested from outside: over its own port. T3
 */
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { invocationPath } from './door.ts';
import { manifestPath } from '../define/manifest.ts';

const timeoutMs = 5_000;

/** @throws Error when the manifest is not served, or nothing takes invocations. */
export async function probeItself({ address, port }: AddressInfo): Promise<void> {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  const manifest = await statusOf(host, port, 'GET', manifestPath);
  const endpoint = await statusOf(host, port, 'POST', invocationPath); // no body: a refusal proves an endpoint
  if (manifest !== 200 || ![401, 415].includes(endpoint))
    throw new Error(`the server does not answer itself: manifest ${manifest}, endpoint ${endpoint}`);
}

function statusOf(host: string, port: number, method: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = request({ host, port, method, path, agent: false, timeout: timeoutMs }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    probe.on('timeout', () => probe.destroy(new Error('the server does not answer itself in time')));
    probe.on('error', reject);
    probe.end();
  });
}

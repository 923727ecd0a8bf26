// TLS before a server that speaks none: ends it on a port of loopback and carries the bytes on. With a certificate made here, which
// is its own authority, and may have expired.
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { runCommand } from './run-command.ts';

export interface Certificate {
  /** Whoever trusts this file trusts the door. */
  readonly file: string;
  readonly keyFile: string;
}

export interface TlsDoor {
  readonly port: number;
  close(): Promise<void>;
}

const settings = `
[ca]
default_ca = here
[here]
dir = .
database = ./index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = server
[any]
commonName = supplied
[server]
subjectAltName = IP:127.0.0.1,DNS:localhost
basicConstraints = CA:true
[req]
distinguished_name = nothing
[nothing]
`;

/** For 127.0.0.1 and localhost, until the end of next year, or of one long past. Needs openssl. */
export async function makeCertificate(directory: string, isExpired = false): Promise<Certificate> {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'settings'), settings);
  writeFileSync(join(directory, 'index.txt'), '');
  const year = isExpired ? 2020 : new Date().getUTCFullYear() + 1;
  const openssl = (...args: readonly string[]): Promise<string> =>
    runCommand('openssl', args, { withinMs: 20_000, cwd: directory });
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', 'key.pem'];
  await openssl('req', '-new', ...key, '-config', 'settings', '-subj', '/CN=localhost', '-out', 'request.pem');
  const during = ['-startdate', '20200101000000Z', '-enddate', `${year}1231000000Z`];
  const files = ['-in', 'request.pem', '-keyfile', 'key.pem', '-out', 'certificate.pem'];
  await openssl('ca', '-batch', '-selfsign', '-notext', '-config', 'settings', ...during, ...files);
  return { file: join(directory, 'certificate.pem'), keyFile: join(directory, 'key.pem') };
}

/** On any free port. `targetPort` is asked at each connection: a server may be told of its door before it starts. */
export async function startTlsDoor(targetPort: () => number, { file, keyFile }: Certificate): Promise<TlsDoor> {
  const sockets = new Set<Socket>();
  const server = createServer({ cert: readFileSync(file), key: readFileSync(keyFile) }, (client) => {
    const upstream = connect({ port: targetPort(), host: '127.0.0.1', noDelay: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

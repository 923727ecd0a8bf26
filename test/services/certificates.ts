// An authority of our own and the certificates it signs, made with openssl: for 127.0.0.1 and localhost or one of them,
// for servers and for clients, that are valid until the end of next year or have expired long ago.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled, runCommand } from './run-command.ts';

export interface Certificate {
  readonly file: string;
  readonly keyFile: string;
  /** The key, then the certificate: as MongoDB's driver and Kafka want them. */
  readonly bothFile: string;
}

export interface Authority {
  /** The certificate of the authority: a client that trusts it trusts what is issued. */
  readonly file: string;
  issue(name: string, validity?: 'valid' | 'expired', hosts?: keyof typeof leaves): Promise<Certificate>;
}

export const canMakeCertificates = (): Promise<boolean> => isInstalled('openssl');

/** By the section of the settings that names its hosts. */
const leaves = {
  both: 'IP:127.0.0.1,DNS:localhost',
  address: 'IP:127.0.0.1',
  name: 'DNS:localhost',
  elsewhere: 'DNS:elsewhere.test',
} as const;

const leafSections = Object.entries(leaves)
  .map(
    ([section, hosts]) => `[leaf_${section}]
subjectAltName = ${hosts}
basicConstraints = CA:false
extendedKeyUsage = serverAuth,clientAuth
authorityKeyIdentifier = keyid`,
  )
  .join('\n');

const settings = `
[ca]
default_ca = here
[here]
dir = .
database = ./index.txt
new_certs_dir = .
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
[any]
commonName = supplied
[authority]
basicConstraints = critical,CA:true
keyUsage = keyCertSign
subjectKeyIdentifier = hash
${leafSections}
[req]
distinguished_name = nothing
[nothing]
`;

/** `directory` is made, and holds everything. @throws where openssl is not installed. */
export async function makeAuthority(directory: string): Promise<Authority> {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'settings'), settings);
  writeFileSync(join(directory, 'index.txt'), '');
  const openssl = (...args: readonly string[]): Promise<string> =>
    runCommand('openssl', args, { withinMs: 20_000, cwd: directory });
  const request = (name: string, subject: string): Promise<string> =>
    openssl(
      ...['req', '-new', '-newkey', 'rsa:2048', '-nodes', '-config', 'settings', '-subj', `/CN=${subject}`],
      ...['-keyout', `${name}.key`, '-out', `${name}.request`],
    );
  const sign = (name: string, extensions: string, endYear: number, ...signer: readonly string[]): Promise<string> =>
    openssl(
      ...['ca', '-batch', '-notext', '-config', 'settings', '-extensions', extensions, ...signer],
      ...['-startdate', '20200101000000Z', '-enddate', `${endYear}1231000000Z`],
      ...['-in', `${name}.request`, '-out', `${name}.pem`],
    );
  const nextYear = new Date().getUTCFullYear() + 1;
  await request('authority', 'Authority of a test');
  await sign('authority', 'authority', nextYear, '-selfsign', '-keyfile', 'authority.key');
  return {
    file: join(directory, 'authority.pem'),
    issue: async (name, validity = 'valid', hosts = 'both') => {
      await request(name, name);
      const signer = ['-cert', 'authority.pem', '-keyfile', 'authority.key'];
      await sign(name, `leaf_${hosts}`, validity === 'valid' ? nextYear : 2020, ...signer);
      const [file, keyFile, bothFile] = ['pem', 'key', 'both'].map((end) => join(directory, `${name}.${end}`));
      if (file === undefined || keyFile === undefined || bothFile === undefined) throw new Error(name);
      writeFileSync(bothFile, readFileSync(keyFile));
      appendFileSync(bothFile, readFileSync(file));
      return { file, keyFile, bothFile };
    },
  };
}

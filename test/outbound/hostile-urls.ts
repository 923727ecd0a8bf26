// URLs that must never open a connection. `{port}` is where a canary listens on loopback, so that a guard that lets one
// pass is caught by the canary and not only by its own verdict. Names are resolved by `hostileResolver`.

/** Spellings of loopback and of everything that leads there. */
const loopback = [
  'http://127.0.0.1:{port}/',
  'https://127.0.0.1:{port}/',
  'http://127.0.0.2:{port}/',
  'http://127.255.255.254:{port}/',
  'http://127.1:{port}/',
  'http://127.0.1:{port}/',
  'http://0x7f.1:{port}/',
  'http://0x7f000001:{port}/',
  'http://2130706433:{port}/',
  'http://017700000001:{port}/',
  'http://0177.0.0.01:{port}/',
  'http://0x7f.0.0.0x1:{port}/',
  'http://127.0.0.1.:{port}/',
  'http://%31%32%37.0.0.1:{port}/',
  'http://①②⑦.⓪.⓪.①:{port}/',
  'http://127。0。0。1:{port}/',
  'http://0.0.0.0:{port}/',
  'http://0:{port}/',
  'http://0.1.2.3:{port}/',
  'http://[::1]:{port}/',
  'https://[::1]:{port}/',
  'http://[0:0:0:0:0:0:0:1]:{port}/',
  'http://[::]:{port}/',
  'http://[::ffff:127.0.0.1]:{port}/',
  'http://[::ffff:7f00:1]:{port}/',
  'http://[0:0:0:0:0:ffff:127.0.0.1]:{port}/',
  'http://[::127.0.0.1]:{port}/',
  'http://[::7f00:1]:{port}/',
  'http://[64:ff9b::127.0.0.1]:{port}/',
  'http://[64:ff9b:1::7f00:1]:{port}/',
  'http://[2002:7f00:1::1]:{port}/',
  'http://[2001:0:4136:e378:8000:63bf:80ff:fffe]:{port}/',
  'http://[fe80::5efe:7f00:1]:{port}/',
  'http://localhost:{port}/',
  'https://localhost:{port}/',
  'http://LOCALHOST:{port}/',
  'http://localhost.:{port}/',
  'http://anything.localhost:{port}/',
  'http://loop.example:{port}/',
  'https://loop.example:{port}/',
  'https://loop6.example:{port}/',
  'https://mapped.example:{port}/',
  'https://mixed.example:{port}/',
  'https://mixed-last.example:{port}/',
  'https://zero.example:{port}/',
];

/** Other internal addresses. */
const inside = [
  'http://10.0.0.1/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.0.1/',
  'https://100.64.0.1/',
  'https://198.18.0.1/',
  'https://[fd00::1]/',
  'https://[fec0::1]/',
  'https://[fe80::1]/',
  'https://[2001:db8::1]/',
  'https://[ff02::1]/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://inside.example/',
];

/** Metadata services with a machine's credentials. */
export const metadata = [
  'http://169.254.169.254/latest/meta-data/',
  'https://169.254.169.254/',
  'http://169.254.170.2/v2/credentials',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://0251.0376.0251.0376/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::169.254.169.254]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fd20:ce::254]/',
  'http://100.100.100.200/',
  'http://168.63.129.16/',
  'http://192.0.0.192/',
  'http://metadata.example/',
  'https://metadata.example/',
];

/** Spellings that two parsers read differently, and texts that are no http at all. */
const confusing = [
  'http://public.example@127.0.0.1:{port}/',
  'http://127.0.0.1:{port}@public.example/',
  'https://user:password@public.example/',
  'http://127.0.0.1:{port}\\@public.example/',
  'http://public.example\\@127.0.0.1:{port}/',
  'http://127.0.0.1:{port}#@public.example/',
  'http://127.0.0.1:{port}?@public.example/',
  ' http://127.0.0.1:{port}/',
  'http://127.0.0.1:{port}/\r\nHost: public.example',
  'ht\ntp://127.0.0.1:{port}/',
  'http:127.0.0.1:{port}/',
  'http:/127.0.0.1:{port}/',
  'http:///127.0.0.1:{port}/',
  '//127.0.0.1:{port}/',
  'file:///etc/passwd',
  'ftp://127.0.0.1:{port}/',
  'gopher://127.0.0.1:{port}/_GET',
  'ws://127.0.0.1:{port}/',
  'unix:/var/run/docker.sock',
  'data:text/plain,x',
  'javascript:alert(1)',
  'https://public.example:22/',
  'https://public.example:25/',
  'https://public.example:6379x/',
  'https://public.example:6000/',
  'http://public.example/',
];

export const hostileUrls = (port: number): readonly string[] =>
  [...loopback, ...inside, ...metadata, ...confusing].map((url) => url.replaceAll('{port}', String(port)));

const names: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1', '::1'],
  'localhost.': ['127.0.0.1'],
  'anything.localhost': ['127.0.0.1'],
  'loop.example': ['127.0.0.1'],
  'loop6.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'mixed.example': ['127.0.0.1', '93.184.216.34'],
  'mixed-last.example': ['93.184.216.34', '2606:2800:220:1::1', '127.0.0.1'],
  'zero.example': ['0.0.0.0'],
  'inside.example': ['10.0.0.7'],
  'metadata.example': ['169.254.169.254'],
  'public.example': ['93.184.216.34'],
};

/** Knows the names above and nothing else. */
export async function hostileResolver(host: string): Promise<readonly string[]> {
  const found = names[host];
  if (found === undefined) throw Object.assign(new Error(`nobody knows ${host}`), { code: 'ENOTFOUND' });
  return found;
}

import { describe, expect, it } from 'vitest';
import { metricsPushOf, readConfig } from './config.ts';

const wholeCluster = {
  DORMOUSE_KAFKA_BROKERS: 'kafka:9092',
  DORMOUSE_MONGO_URL: 'mongodb://mongo/dormouse',
  DORMOUSE_REDIS_URL: 'redis://redis',
  DORMOUSE_MASTER_KEY: 'a'.repeat(64),
};

describe('settings', () => {
  it('have defaults for everything', () => {
    expect(readConfig([], {})).toMatchObject({
      ok: true,
      config: { PORT: 7420, HOST: '127.0.0.1', DATA_DIR: './.dormouse', LOG_LEVEL: 'warn', EXAMPLE_TOOLS: true },
    });
  });

  it.each([
    ['MASTER_KEY', { DORMOUSE_MASTER_KEY: 'vault:v1:Y2FuYXJ5IGNhbmFyeQ==' }, 'needs DORMOUSE_VAULT_URL'],
    ['VAULT_TOKEN_FILE', { DORMOUSE_VAULT_URL: 'https://vault:8200' }, 'is needed with DORMOUSE_VAULT_URL'],
    ['VAULT_TOKEN_FILE', { DORMOUSE_VAULT_TOKEN_FILE: '/canary' }, 'of no use without DORMOUSE_VAULT_URL'],
    ['VAULT_URL', { DORMOUSE_VAULT_URL: 'http://canary:8200' }, 'must be https'],
    ['VAULT_URL', { DORMOUSE_VAULT_URL: 'https://vault:8200/' }, 'must not end with a slash'],
    ['VAULT_URL', { DORMOUSE_VAULT_URL: 'https://canary@vault:8200' }, 'without user'],
    ['VAULT_KEY', { DORMOUSE_VAULT_KEY: 'canary' }, 'MOUNT/NAME'],
  ])('of a key management fit together: %s', (name, environment, words) => {
    const reading = readConfig([], { ...wholeCluster, ...environment });
    const problems = reading.ok === false ? reading.problems : [];
    expect(problems).toEqual([expect.stringContaining(`DORMOUSE_${name}: `)]);
    expect(problems[0]).toContain(words);
    expect(problems[0]).not.toMatch(/canary|Y2Fu/);
  });

  it.each([
    [{ DORMOUSE_PLATFORM_KEY: 'canary-key', DORMOUSE_BOOTSTRAP_KEY: 'canary-key' }, 'PLATFORM_KEY: must be another'],
    [{ DORMOUSE_PLATFORM_KEY: 'dtt_canary' }, 'PLATFORM_KEY: must not begin with dtt_'],
    [{ DORMOUSE_BOOTSTRAP_KEY: 'dtt_canary' }, 'BOOTSTRAP_KEY: must not begin with dtt_'],
  ])('refuse a key that another credential would be read for: %#', (environment, words) => {
    const reading = readConfig([], environment);
    const problems = reading.ok === false ? reading.problems : [];
    expect(problems).toEqual([expect.stringContaining(`DORMOUSE_${words}`)]);
    expect(problems[0]).not.toContain('canary');
  });

  it('of a key management may be on this machine without TLS', () => {
    const vault = { DORMOUSE_VAULT_URL: 'http://127.0.0.1:8200', DORMOUSE_VAULT_TOKEN_FILE: '/run/token' };
    const reading = readConfig([], { ...wholeCluster, ...vault, DORMOUSE_MASTER_KEY: 'vault:v1:Y2FuYXJ5IGNhbmFyeQ==' });
    expect(reading).toMatchObject({
      ok: true,
      config: { VAULT_KEY: 'transit/dormouse', MASTER_KEY_HELD_MS: 86_400_000 },
    });
  });

  it('leave the copies of topics to the number of brokers, unless they name one', () => {
    const copies = (environment: Record<string, string>): unknown => {
      const reading = readConfig([], { ...wholeCluster, ...environment });
      return reading.ok === true ? reading.config.KAFKA_REPLICATION : reading;
    };
    expect(copies({})).toBeUndefined();
    expect(copies({ DORMOUSE_KAFKA_REPLICATION: '2' })).toBe(2);
  });

  it('come from the environment, and a flag of the same name wins', () => {
    const environment = {
      DORMOUSE_PORT: '1',
      DORMOUSE_TOOL_RETRY_TOTAL_MS: '5',
      DORMOUSE_DATA_DIR: '/a',
      PATH: '/bin',
    };
    expect(readConfig(['--port', '2', '--data=/b', '--no-example-tools'], environment)).toMatchObject({
      config: { PORT: 2, TOOL_RETRY_TOTAL_MS: 5, DATA_DIR: '/b', EXAMPLE_TOOLS: false },
    });
  });

  it('are all judged at once, by name and without their values', () => {
    const reading = readConfig(['--port', '99999', '--flavour', 'sweet'], {
      DORMOUSE_LOG_LEVEL: 'canary',
      DORMOUSE_PUBLIC_URL: 'ftp://canary',
      DORMOUSE_BOOTSTRAP_KEY: 'short',
      DORMOUSE_DATADIR: 'canary',
    });
    const problems = reading.ok === false ? reading.problems : [];
    for (const name of [
      '--port',
      '--flavour',
      'DORMOUSE_LOG_LEVEL',
      'DORMOUSE_PUBLIC_URL',
      'DORMOUSE_BOOTSTRAP_KEY',
      'DORMOUSE_DATADIR',
    ]) {
      expect(problems.filter((problem) => problem.startsWith(`${name}: `))).toHaveLength(1);
    }
    expect(problems.join()).not.toMatch(/canary|99999/);
  });

  it('refuse an allow-list that cannot be read', () => {
    expect(readConfig([], { DORMOUSE_OUTBOUND_ALLOW: 'corp.example,10.0.0.0/99' })).toMatchObject({ ok: false });
    expect(readConfig([], { DORMOUSE_OUTBOUND_ALLOW: 'http://corp.example:8080,10.0.0.0/8' })).toMatchObject({
      ok: true,
    });
  });

  it.each([
    ['KAFKA_BROKERS', 'kafka', 'must be host:port'],
    ['KAFKA_BROKERS', 'kafka:9092,', 'must be host:port'],
    ['KAFKA_BROKERS', 'http://kafka:9092', 'must be host:port'],
    ['MONGO_URL', 'canary:27017', 'must be a mongodb://'],
    ['MONGO_URL', 'mongodb://me:can@ary@mongo/', 'cannot be read'],
    ['MONGO_URL', 'mongodb://mongo/?canary=1', 'cannot be read'],
    ['MONGO_URL', 'mongodb://mongo/?tls=true&tlsCAFile=%2Fnowhere%2Fcanary.pem', 'tlsCAFile of it names a file'],
    ['REDIS_URL', 'canary:6379', 'must be a redis://'],
    ['REDIS_URL', 'redis+sentinel://:canary@redis:26379', 'must name the master'],
    ['REDIS_URL', 'redis+cluster://:canary@one,two/0', 'has one database'],
  ])('that could never be of use are refused at once: %s %s', (name, value, words) => {
    const reading = readConfig([], { ...wholeCluster, [`DORMOUSE_${name}`]: value });
    const problems = reading.ok === false ? reading.problems : [];
    expect(problems).toEqual([expect.stringContaining(`DORMOUSE_${name}: `)]);
    expect(problems[0]).toContain(words);
    expect(problems[0]).not.toContain('canary');
  });

  it('that name servers may name several, with what the drivers take', () => {
    const reading = readConfig([], {
      ...wholeCluster,
      DORMOUSE_KAFKA_BROKERS: 'one:9092, two.internal:9093',
      DORMOUSE_MONGO_URL: 'mongodb://me:p%40ss@one:27017,two:27017/dormouse?replicaSet=rs0&tls=true',
    });
    expect(reading).toMatchObject({ ok: true });
  });

  it('are explained with name, flag, default and meaning', () => {
    const help = readConfig(['--help'], {});
    const text = help.ok === 'help' ? help.text : '';
    expect(text).toMatch(/DORMOUSE_PORT, --port \[7420\]\n\s+port of the client API/);
    expect(text).not.toMatch(/undefined/);
    const [own = '', ofCluster = ''] = text.split(/^Of a cluster only.*$/m);
    expect(own).toMatch(/DORMOUSE_DATA_DIR[^]*DORMOUSE_EXAMPLE_TOOLS/);
    expect(own).not.toMatch(/DORMOUSE_(KAFKA|MONGO|REDIS|MASTER_KEY,)/);
    for (const name of ['KAFKA_BROKERS', 'MONGO_URL', 'REDIS_TLS_KEY_FILE', 'MASTER_KEY'])
      expect(ofCluster).toContain(`DORMOUSE_${name}, --`);
    expect(ofCluster).not.toMatch(/DORMOUSE_(PORT|HOST)\b/);
  });

  it.each([
    ['http://tools.example.com', 'false', false],
    ['http://10.0.0.7:7420', 'false', false],
    ['http://10.0.0.7:7420', 'true', true],
    ['https://agents.example.com', 'false', true],
    ['http://127.0.0.1:7420', 'false', true],
    ['http://[::1]:7420', 'false', true],
    ['http://localhost:7420', 'false', true],
  ])('R41 callbacks at %s, plain http allowed: %s', (address, allowed, ok) => {
    const environment = { DORMOUSE_CALLBACK_BASE_URL: address, DORMOUSE_PLAIN_HTTP_CALLBACKS: allowed };
    const reading = readConfig([], environment);
    expect(reading.ok).toBe(ok);
    expect(reading.ok === false ? reading.problems.join() : 'unencrypted').toContain('unencrypted');
  });
});

describe('OpenTelemetry’s own variables', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

  it.each([
    ['an endpoint', endpoint, true],
    ['nothing', {}, false],
    ['an exporter without an endpoint, which has a default', { OTEL_METRICS_EXPORTER: 'otlp' }, true],
    ['several exporters', { ...endpoint, OTEL_METRICS_EXPORTER: 'console, otlp' }, true],
    ['another exporter', { ...endpoint, OTEL_METRICS_EXPORTER: 'prometheus' }, false],
    ['none', { ...endpoint, OTEL_METRICS_EXPORTER: 'none' }, false],
    ['a disabled SDK', { ...endpoint, OTEL_SDK_DISABLED: 'true' }, false],
    ['a disabled SDK, in any letters', { ...endpoint, OTEL_SDK_DISABLED: ' TRUE' }, false],
  ])('say whether metrics are pushed: %s', (_what, environment, isPushed) => {
    expect(metricsPushOf(environment) !== null).toBe(isPushed);
  });
});

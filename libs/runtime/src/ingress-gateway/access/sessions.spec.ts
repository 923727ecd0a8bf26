import { tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { ingressRig, type IngressRig } from '../spec/ingress-rig.ts';
import { allScopes, type NewApiKey } from './api-keys.ts';
import { codeTtlMs, sessionTtlMs } from './sessions.ts';

const tenant = tenantId('acme');

async function keyIn(
  { ingress }: IngressRig,
  wanted: Omit<NewApiKey, 'agents'>,
): Promise<{ readonly id: string; readonly key: string }> {
  const all = { scopes: allScopes, agents: null };
  const made = await ingress.keys.create(tenant, { ...wanted, agents: null }, all);
  if (!made.ok) throw new Error(made.refusal.detail);
  return made.value;
}

/** A rig with one key, and what was opened with it. */
async function signedIn(scopes: readonly ('read' | 'tenant:admin')[] = ['read']) {
  const at = ingressRig();
  const { id, key } = await keyIn(at, { name: 'laptop', scopes, expiresAt: null });
  const session = await at.ingress.sessions.open(key);
  if (session === null) throw new Error('the key is known');
  return { ...at, id, key, session };
}

async function codeOf(at: IngressRig, key: string): Promise<string> {
  const issued = await at.ingress.sessions.issueCode(key);
  if (issued === null) throw new Error('the key is known');
  return issued.code;
}

describe('a session', () => {
  it('N1 can do what its key can, and is no key itself', async () => {
    const { ingress, session } = await signedIn();
    const known = await ingress.sessions.authenticate(session.secret);
    expect(known).toMatchObject({ tenant, name: 'laptop', scopes: ['read'], expiresAt: session.expiresAt });
    expect(await ingress.keys.authenticate(session.secret)).toBeNull();
    expect(await ingress.sessions.open(session.secret)).toBeNull();
    expect(await ingress.sessions.issueCode(session.secret)).toBeNull();
  });

  it('N1 ends at its end, with its key, and when it is closed', async () => {
    const expired = await signedIn();
    await expired.clock.advance(sessionTtlMs - 1);
    expect(await expired.ingress.sessions.authenticate(expired.session.secret)).not.toBeNull();
    await expired.clock.advance(1);
    expect(await expired.ingress.sessions.authenticate(expired.session.secret)).toBeNull();
    const revoked = await signedIn();
    await revoked.ingress.keys.revoke(tenant, revoked.id);
    expect(await revoked.ingress.sessions.authenticate(revoked.session.secret)).toBeNull();
    const closed = await signedIn();
    await closed.ingress.sessions.close(closed.session.secret);
    expect(await closed.ingress.sessions.authenticate(closed.session.secret)).toBeNull();
    expect(await closed.ingress.keys.authenticate(closed.key)).not.toBeNull();
  });

  it('N1 ends with a key that expires before it', async () => {
    const at = ingressRig();
    const { key } = await keyIn(at, { name: 'k', scopes: ['read'], expiresAt: at.clock.now() + 5 });
    const session = await at.ingress.sessions.open(key);
    await at.clock.advance(5);
    expect(await at.ingress.sessions.authenticate(session?.secret ?? '')).toBeNull();
  });

  it('N3 survives its process, and is stored as a hash that no list of keys shows', async () => {
    const at = await signedIn();
    const { session, ports, id } = at;
    const other = at.ingressWith({});
    expect(await other.sessions.authenticate(session.secret)).not.toBeNull();
    expect(JSON.stringify(await ports.apiKeys.list(tenant))).not.toContain(session.secret);
    const shown = await other.keys.list(tenant, { limit: 10, cursor: null });
    expect(shown.data.map((each) => each.id)).toEqual([id]);
  });

  it('N4 ends when its key has opened many more', async () => {
    const { ingress, ports, clock, key, session } = await signedIn();
    for (let opened = 0; opened < 100; opened++) {
      await clock.advance(1);
      await ingress.sessions.open(key);
    }
    expect(await ingress.sessions.authenticate(session.secret)).toBeNull();
    await clock.advance(sessionTtlMs);
    await ingress.sessions.open(key);
    expect(await ports.apiKeys.list(tenant)).toHaveLength(2); // the key and the new session: what expired is gone
  });
});

describe('a code', () => {
  it('N2 opens one session, of several that redeem it at once', async () => {
    const at = await signedIn(['tenant:admin']);
    const code = await codeOf(at, at.key);
    const processes = [at.ingress, at.ingressWith({}), at.ingressWith({})];
    const opened = (await Promise.all(processes.map(({ sessions }) => sessions.redeem(code)))).filter(Boolean);
    expect(opened).toMatchObject([{ tenant, scopes: ['tenant:admin'] }]);
    expect(await at.ingress.sessions.redeem(code)).toBeNull();
  });

  it('is good for ten minutes, and no session itself', async () => {
    const at = await signedIn();
    const [early, late] = [await codeOf(at, at.key), await codeOf(at, at.key)];
    expect(await at.ingress.sessions.authenticate(early)).toBeNull();
    await at.clock.advance(codeTtlMs - 1);
    expect(await at.ingress.sessions.redeem(early)).not.toBeNull();
    await at.clock.advance(1);
    expect(await at.ingress.sessions.redeem(late)).toBeNull();
  });

  it('is worth nothing once its key is revoked, or when it was never one', async () => {
    const at = await signedIn();
    const code = await codeOf(at, at.key);
    await at.ingress.keys.revoke(tenant, at.id);
    expect(await at.ingress.sessions.redeem(code)).toBeNull();
    for (const other of ['', 'x', at.key, at.session.secret])
      expect(await at.ingress.sessions.redeem(other)).toBeNull();
  });
});

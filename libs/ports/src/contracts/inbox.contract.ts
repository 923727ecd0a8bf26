// The contract of `Inbox`, for every adapter.
import { describe, expect, it } from 'vitest';
import { tenantId, type TenantId, type Inbox, type Question, type QuestionFilter } from '../index.ts';
import { freshKey, freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

let questions = 0;

/** Lists are of a tenant: a test that looks at one has its own. */

/** A question of a fresh thread, unless `of` says more. */
function questionOf(of: Partial<Question> = {}): Question {
  questions += 1;
  const key = { ...freshKey(), tenant: freshTenant() };
  const id = `chc_${String(questions).padStart(6, '0')}_${key.thread}`;
  const thread = of.thread ?? key.thread;
  return {
    ...{ ...key, id, kind: 'approval', family: thread, ancestors: [], agent: 'assistant', toolCallId: `call_${id}` },
    ...{ operation: 'deploy', toolServer: 'tools', asked: 7, since: 1_000_000 + questions, expiresAt: 2_000_000 },
    settled: null,
    ...of,
  };
}

const settledAt = (question: Question, position = 9): Question => ({
  ...question,
  settled: { position, at: question.since + 10 },
});

export function inboxContract(name: string, make: () => Promise<UnderTest<Inbox>>): void {
  describe(`Inbox contract: ${name}`, () => {
    const opened = openedOnce(make);

    async function idsOf(tenant: TenantId, filter: QuestionFilter, limit = 3): Promise<readonly string[]> {
      const inbox = await opened.get();
      const ids: string[] = [];
      for (let cursor: string | null = null; ;) {
        const page = await inbox.list(tenant, filter, { limit, cursor });
        expect(page.data.length).toBeLessThanOrEqual(limit);
        ids.push(...page.data.map(({ id }) => id));
        cursor = page.nextCursor;
        if (cursor === null) return ids;
      }
    }

    it('(I1) has each question once, as it was put', async () => {
      const inbox = await opened.get();
      const one = questionOf({ ancestors: ['thr_root', 'thr_parent'], family: 'thr_root', toolServer: null });
      await inbox.put([]);
      await inbox.put([one]);
      await inbox.put([one]);
      expect(await inbox.get(one.tenant, one.id)).toEqual(one);
      expect(await idsOf(one.tenant, { status: 'open' })).toEqual([one.id]);
      expect(await inbox.get(tenantId(`${one.tenant}x`), one.id)).toBeNull();
      expect(await inbox.get(one.tenant, `${one.id}x`)).toBeNull();
    });

    it('(I1) the later position stays, in whichever order they arrive', async () => {
      const inbox = await opened.get();
      const [one, two, three] = [questionOf(), questionOf(), questionOf()];
      await inbox.put([one]);
      await inbox.put([settledAt(one)]);
      await inbox.put([settledAt(two)]);
      await inbox.put([two]);
      for (const each of [one, two]) expect(await inbox.get(each.tenant, each.id)).toEqual(settledAt(each));
      const again = { ...three, asked: 12, since: three.since + 5 };
      await inbox.put([again]);
      await inbox.put([settledAt(three, 11)]);
      expect(await inbox.get(three.tenant, three.id)).toEqual(again); // a call may ask to log in again
      const atOnce = { ...three, settled: { position: 12, at: 5 } };
      await inbox.put([atOnce]);
      expect(await inbox.get(three.tenant, three.id)).toEqual(atOnce);
    });

    it('(I2) lists what is open, the oldest first, and what is settled, the latest first', async () => {
      const inbox = await opened.get();
      const tenant = freshTenant();
      const all = Array.from({ length: 8 }, () => questionOf({ tenant }));
      const tied = all.map((question, place) => ({ ...question, since: place < 4 ? 5_000 : question.since }));
      await inbox.put(tied.toReversed());
      const ids = tied.map(({ id }) => id);
      expect(await idsOf(tenant, { status: 'open' })).toEqual(ids);
      expect(await idsOf(tenant, { status: 'open' }, 8)).toEqual(ids);
      await inbox.put(tied.slice(2, 6).map((each) => settledAt(each)));
      expect(await idsOf(tenant, { status: 'open' })).toEqual([...ids.slice(0, 2), ...ids.slice(6)]);
      expect(await idsOf(tenant, { status: 'settled' })).toEqual(ids.slice(2, 6).toReversed());
    });

    it('(I2) a page goes on where the last one ended while others come and go', async () => {
      const inbox = await opened.get();
      const tenant = freshTenant();
      const all = Array.from({ length: 5 }, () => questionOf({ tenant }));
      await inbox.put(all);
      const first = await inbox.list(tenant, { status: 'open' }, { limit: 2, cursor: null });
      await inbox.put([...all.slice(0, 2).map((each) => settledAt(each)), questionOf({ tenant, since: 1 })]);
      const second = await inbox.list(tenant, { status: 'open' }, { limit: 5, cursor: first.nextCursor });
      expect(second.data.map(({ id }) => id)).toEqual(all.slice(2).map(({ id }) => id));
      expect(second.nextCursor).toBeNull();
    });

    it('(I3) filters by kind, agent and thread, each alone and together', async () => {
      const inbox = await opened.get();
      const tenant = freshTenant();
      const { thread } = freshKey();
      const plain = questionOf({ tenant });
      const tool = questionOf({ tenant, kind: 'tool', thread });
      const login = questionOf({ tenant, kind: 'oauth', agent: 'other' });
      const others = questionOf({ kind: 'tool', agent: 'other', thread });
      await inbox.put([plain, tool, login, others]);
      const open = (filter: Partial<QuestionFilter>): Promise<readonly string[]> =>
        idsOf(tenant, { status: 'open', ...filter });
      expect(await open({})).toEqual([plain.id, tool.id, login.id]);
      expect(await open({ kind: 'tool' })).toEqual([tool.id]);
      expect(await open({ agent: 'other' })).toEqual([login.id]);
      expect(await open({ agents: ['other', 'none'] })).toEqual([login.id]);
      expect(await open({ agents: ['assistant'], agent: 'other' })).toEqual([]);
      expect(await open({ agents: [] })).toEqual([]);
      expect(await open({ thread })).toEqual([tool.id]);
      expect(await open({ thread, agent: 'assistant', kind: 'tool' })).toEqual([tool.id]);
      expect(await open({ thread, agent: 'other' })).toEqual([]);
      expect(await idsOf(tenant, { status: 'settled' })).toEqual([]);
    });

    it('I1 I3 has whose task a question is, and how far it is, and finds it by that', async () => {
      const inbox = await opened.get();
      const tenant = freshTenant();
      const progress = { position: 7, needed: 2, approvedBy: [], editedAt: null };
      const [one, two] = [questionOf({ tenant, assignees: ['ann', 'ben'], progress }), questionOf({ tenant })];
      await inbox.put([one, two, questionOf({ assignees: ['ann'] })]);
      expect(await inbox.get(tenant, one.id)).toEqual(one);
      const of = (assignee: string, status: 'open' | 'settled' = 'open'): Promise<readonly string[]> =>
        idsOf(tenant, { status, assignee });
      expect([await of('ann'), await of('ben'), await of('cleo')]).toEqual([[one.id], [one.id], []]);
      expect(await idsOf(tenant, { status: 'open', assignee: 'ann', kind: 'tool' })).toEqual([]);
      const counted = { ...one, assignees: ['cleo'], progress: { ...progress, position: 9, approvedBy: ['ann'] } };
      await inbox.put([counted]);
      await inbox.put([one]); // comes again, late
      expect(await inbox.get(tenant, one.id)).toEqual(counted);
      expect([await of('ann'), await of('cleo')]).toEqual([[], [one.id]]);
      expect(await inbox.openOf(tenant, [one.family])).toEqual([counted]);
      const more = Array.from({ length: 5 }, () => questionOf({ tenant, assignees: ['cleo'] }));
      await inbox.put(more);
      expect(await of('cleo')).toEqual([one.id, ...more.map(({ id }) => id)]);
      const { assignees: _none, ...released } = counted;
      await inbox.put([settledAt(released, 11)]);
      expect([await of('cleo'), await of('cleo', 'settled')]).toEqual([more.map(({ id }) => id), []]);
      await inbox.put(more.map((each) => settledAt(each)));
      expect(await of('cleo', 'settled')).toEqual(more.map(({ id }) => id).toReversed());
    });

    it('gives the open questions of families, at once', async () => {
      const inbox = await opened.get();
      const tenant = freshTenant();
      const child = questionOf({ tenant, family: 'thr_a', ancestors: ['thr_a'] });
      const root = questionOf({ tenant, family: 'thr_a' });
      const other = questionOf({ tenant, family: 'thr_b' });
      const ended = settledAt(questionOf({ tenant, family: 'thr_b' }));
      await inbox.put([child, root, other, ended, questionOf({ family: 'thr_a' })]);
      expect(await inbox.openOf(tenant, [])).toEqual([]);
      expect(await inbox.openOf(tenant, ['thr_none'])).toEqual([]);
      expect(await inbox.openOf(tenant, ['thr_a'])).toEqual([child, root]);
      expect(await inbox.openOf(tenant, ['thr_b', 'thr_a'])).toEqual([child, root, other]);
    });

    it('outlives its process', async () => {
      const one = settledAt(questionOf());
      await (await opened.get()).put([one]);
      const again = await opened.reopened();
      if (again !== null) expect(await again.get(one.tenant, one.id)).toEqual(one);
    });
  });
}

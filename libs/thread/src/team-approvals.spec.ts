// Calls that several must allow: who counts, what voids, what ends it, and what the model sees of it.
import { tenantId } from './tenant-id.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evolve } from './evolve.ts';
import type { ChoiceAnswer } from './input.ts';
import type { TeamApproval } from './policy.ts';
import {
  answered,
  call,
  choiceId,
  close,
  given,
  type Happening,
  idle,
  moment,
  play,
  said,
  type Scene,
  timerFired,
} from './spec/scene.ts';
import { unopenedThread } from './thread.ts';

const team = (more: Partial<TeamApproval> = {}): readonly Happening[] => {
  const tool: TeamApproval = { mode: 'always', approvals_needed: 2, ...more };
  const policies = { approve: { mode: 'none', tools: { weather: tool } } } as const;
  return [...idle({ policies }), said('msg_1'), answered('', call('weather', { city: 'Oslo' }))];
};

const shaOf = (args: object): string =>
  moment(unopenedThread(tenantId('acme'), 'thr_1'), 0).sha256(JSON.stringify(args));

interface Said extends Partial<Pick<ChoiceAnswer, 'answer' | 'reason' | 'once' | 'shown'>> {
  readonly edit?: Readonly<Record<string, unknown>>;
}

let requests = 0;

/** An answer of this credential; the label is the credential's. */
const by =
  (credential: string, { edit, answer = { answer: 'decision', decision: 'allow' }, ...more }: Said = {}) =>
  (scene: Scene): ChoiceAnswer => {
    requests += 1;
    const requestId = `req_t${requests}`;
    const current = scene.thread.calls[0]?.arguments ?? {};
    return {
      ...{ kind: 'ChoiceAnswer', id: `c:${requestId}`, requestId, choiceId: choiceId(scene), answer },
      ...{ reason: null, decidedBy: credential.replace(/^\w+:/, ''), credential },
      ...(edit === undefined ? {} : { edit: { arguments: edit, of: shaOf(current) } }),
      ...more,
    };
  };

const deny = { answer: { answer: 'decision', decision: 'deny' } } as const;
const forThread = { answer: { answer: 'decision', decision: 'allow_for_thread' } } as const;

describe('a call that two must allow', () => {
  it('says so, and whose task it is', () => {
    const wish = given(...team({ assignees: ['ann', 'ben'] })).when(close());
    const [question] = wish.scene.events.filter(({ type }) => type === 'ChoiceRequested');
    expect(question).toMatchObject({ approvalsNeeded: 2, assignees: ['ann', 'ben'] });
    const one = play(...team({ approvals_needed: 1 })).events.find(({ type }) => type === 'ChoiceRequested');
    expect(one).not.toHaveProperty('approvalsNeeded');
  });

  it('P1 is sent with the second approval, and the log names both', () => {
    const first = given(...team()).when(by('key:ann', { reason: 'fine' }));
    expect(first.types).toEqual(['ApprovalCounted']);
    expect(first.owes).toEqual([]);
    expect(first.events[0]).toMatchObject({ by: 'ann', credential: 'key:ann', reason: 'fine' });
    expect(first.listed).toMatchObject([{ settled: null, progress: { needed: 2, approvedBy: ['ann'] } }]);
    const second = given(...team(), by('key:ann')).when(by('key:ben'));
    expect(second.types).toEqual(['ChoiceSettled']);
    expect(second.events[0]).toMatchObject({ decision: 'allow', by: 'ann, ben' });
    expect(second.effects[0]).toMatchObject({ do: 'InvokeTool', arguments: { city: 'Oslo' } });
  });

  it('P1 counts no credential twice, whatever label comes with it', () => {
    for (const again of [by('key:ann'), by('key:ann', forThread)]) {
      const refused = given(...team(), by('key:ann')).when((scene) => ({ ...again(scene), decidedBy: 'ben' }));
      expect(refused.events).toMatchObject([{ type: 'RequestRefused', code: 'APPROVAL_COUNTED' }]);
    }
    const earlier = (scene: Scene): ChoiceAnswer => {
      const { credential: _none, ...input } = by('key:ann')(scene);
      return input;
    };
    expect(given(...team(), earlier).when(earlier).events).toMatchObject([{ code: 'APPROVAL_COUNTED' }]);
  });

  it('P1 ends with the first denial, whose reason the model reads; of the approvals it sees nothing', () => {
    const before = play(...team(), by('key:ann'));
    const denied = given(...team(), by('key:ann')).when(by('key:ben', { ...deny, reason: 'not on a Friday' }));
    expect(denied.types).toEqual(['ChoiceSettled', 'ToolCallSettled', 'CompletionRequested']);
    expect(denied.events[0]).toMatchObject({ decision: 'deny', by: 'ben' });
    const shown = JSON.stringify(denied.prompt);
    expect(shown).toContain('denied by ben: not on a Friday');
    expect(shown).not.toContain('ann');
    expect(before.thread.calls).toHaveLength(1);
    expect(given(...team(), by('key:ann')).when(by('key:ann', deny)).types[0]).toBe('ChoiceSettled'); // a change of mind
  });

  it('is denied at its deadline, and withdrawn with its thread, with half of the approvals', () => {
    expect(given(...team(), by('key:ann')).when(timerFired()).events[1]).toMatchObject({ decision: 'expired' });
    expect(given(...team(), by('key:ann')).when(close()).events[0]).toMatchObject({ decision: 'withdrawn' });
  });

  it('is allowed for the thread if all say so', () => {
    const all = given(...team(), by('key:ann', forThread)).when(by('key:ben', forThread));
    expect([all.events[0], all.thread.allowed.length]).toMatchObject([{ decision: 'allow_for_thread' }, 1]);
    const some = given(...team(), by('key:ann', forThread)).when(by('key:ben'));
    expect([some.events[0], some.thread.allowed.length]).toMatchObject([{ decision: 'allow' }, 0]);
  });

  it('P2 other arguments void the approvals before them, and are what is sent', () => {
    const edited = given(...team(), by('key:ann')).when(by('key:ben', { edit: { city: 'Bergen' } }));
    expect(edited.events).toMatchObject([
      { type: 'ApprovalCounted', edited: true, argumentsAllowed: { city: 'Bergen' } },
    ]);
    expect(edited.listed[0]?.progress).toMatchObject({ approvedBy: ['ben'] });
    const again = given(...team(), by('key:ann'), by('key:ben', { edit: { city: 'Bergen' } })).when(by('key:ann'));
    expect(again.events[0]).toMatchObject({ by: 'ben, ann', edited: true, argumentsAllowed: { city: 'Bergen' } });
    expect(again.effects[0]).toMatchObject({ do: 'InvokeTool', arguments: { city: 'Bergen' } });
  });

  it('P2 an approval of arguments that are no longer those of the call is refused', () => {
    const stale = (scene: Scene): ChoiceAnswer => by('key:ann', { shown: shaOf({ city: 'Oslo' }) })(scene);
    expect(given(...team()).when(stale).types).toEqual(['ApprovalCounted']);
    const changed = given(...team(), by('key:ben', { edit: { city: 'Bergen' } })).when(stale);
    expect(changed.events).toMatchObject([{ type: 'RequestRefused', code: 'CHOICE_CHANGED' }]);
  });

  it('P4 takes one answer of a link, also when its approval was voided', () => {
    const link = (more: Said = {}): Happening => by('link:lnk_1', { once: true, ...more });
    for (const next of [link(), link(deny)])
      expect(given(...team(), link()).when(next).events).toMatchObject([{ code: 'APPROVAL_COUNTED' }]);
    const back = [by('key:ben', { edit: { city: 'Bergen' } }), by('key:ben', { edit: { city: 'Oslo' } })];
    expect(given(...team(), link(), ...back).when(link()).events).toMatchObject([{ code: 'APPROVAL_COUNTED' }]);
    expect(given(...team(), by('link:lnk_1', { once: true })).when(by('link:lnk_2', { once: true })).types).toEqual([
      'ChoiceSettled',
    ]);
  });
});

describe('a choice', () => {
  const assign =
    (...assignees: readonly string[]): Happening =>
    (scene) => ({
      ...{ kind: 'AssignmentRequest', id: 'c:req_a', requestId: 'req_a', choiceId: choiceId(scene), by: 'ops' },
      assignees,
    });

  it('is assigned while it is open, and listed so', () => {
    const changed = given(...team({ assignees: ['ann'] })).when(assign('ben', 'cleo'));
    expect(changed.events).toMatchObject([{ type: 'ChoiceAssigned', assignees: ['ben', 'cleo'], by: 'ops' }]);
    expect(changed.listed).toMatchObject([{ assignees: ['ben', 'cleo'], settled: null }]);
    expect(given(...team({ assignees: ['ann'] })).when(assign()).listed[0]).not.toHaveProperty('assignees');
    const late = given(...team({ approvals_needed: 1 }), by('key:ann')).when(assign('ben'));
    expect(late.events).toMatchObject([{ type: 'RequestRefused', request: 'assignment', code: 'CHOICE_SETTLED' }]);
  });
});

describe('any answers, in any order', () => {
  interface Given {
    readonly credential: string;
    readonly does: 'allow' | 'edit' | 'deny' | 'allow_for_thread';
    readonly city: string;
  }
  const answer = fc.record<Given>({
    credential: fc.constantFrom('key:ann', 'key:ben', 'user:cleo', 'link:one', 'link:two'),
    does: fc.constantFrom('allow', 'allow', 'allow', 'edit', 'allow_for_thread', 'deny'),
    city: fc.constantFrom('Oslo', 'Bergen', 'Bodø'),
  });

  const happeningOf = ({ credential, does, city }: Given): Happening =>
    by(credential, {
      ...(credential.startsWith('link:') ? { once: true as const } : {}),
      ...(does === 'edit' ? { edit: { city } } : { answer: { answer: 'decision', decision: does } }),
    });

  /** What must come of them: who counts for what, in the plainest words. */
  function expected(answers: readonly Given[], needed: number): { readonly end: string; readonly city: string } {
    let [counting, city] = [new Set<string>(), 'Oslo'];
    const used = new Set<string>();
    for (const { credential, does, city: other } of answers) {
      if (credential.startsWith('link:') && used.has(credential)) continue;
      if (does === 'deny') return { end: 'denied', city };
      const isEdit = does === 'edit' && other !== city;
      if (isEdit) [counting, city] = [new Set(), other];
      else if (counting.has(credential)) continue;
      counting.add(credential);
      used.add(credential);
      if (counting.size === needed) return { end: 'sent', city };
    }
    return { end: 'open', city };
  }

  it('P1 P2 P4 send the call exactly when as many credentials as needed allow the same arguments', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(answer, { maxLength: 12 }), (needed, answers) => {
        const scene = play(...team({ approvals_needed: needed }), ...answers.map(happeningOf));
        const sent = scene.effects.filter((effect) => effect.do === 'InvokeTool');
        const denied = scene.events.filter((event) => event.type === 'ToolCallSettled');
        const { end, city } = expected(answers, needed);
        expect([sent.length, denied.length]).toEqual([end === 'sent' ? 1 : 0, end === 'denied' ? 1 : 0]);
        if (end === 'sent') expect(sent[0]).toMatchObject({ arguments: { city } });
        // P3: the log alone has all of it.
        const { tenant, id } = scene.thread;
        let folded = unopenedThread(tenant, id);
        for (const { events, at } of commitsOf(scene)) for (const event of events) folded = evolve(folded, event, at);
        expect(folded).toEqual(scene.thread);
      }),
      { numRuns: 500 },
    );
  });
});

/** The events of each decision, with the time that it was made at. */
const commitsOf = (scene: Scene) =>
  scene.steps.flatMap(({ decision, at }) => (decision.committed ? [{ events: decision.events, at }] : []));

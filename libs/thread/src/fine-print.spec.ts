// The fine print of the protocol: rules that are easily broken unnoticed, one sentence each.
import { describe, expect, it } from 'vitest';
import type { ThreadInput } from './input.ts';
import {
  after,
  answered,
  call,
  callId,
  cancel,
  choiceAsked,
  chosen,
  decided,
  given,
  happened,
  idle,
  interrupt,
  loginAsked,
  openingOf,
  play,
  reported,
  result,
  said,
  type AgentOptions,
  type Happening,
  subscribed,
  timerFired,
  toolsLoaded,
} from './spec/scene.ts';
import { toolset } from './spec/toolset.ts';

const asking = (options: AgentOptions = {}): readonly Happening[] => [
  ...idle(options),
  said('m1'),
  answered('', call('weather')),
];
const watching = (options: AgentOptions = {}): readonly Happening[] => [
  ...asking(options),
  subscribed(),
  answered('ok'),
];

const migration: ThreadInput = {
  kind: 'MigrationRequest',
  id: 'c:mig',
  requestId: 'req_m',
  toolServers: { tools: 'https://new.example' },
};
const migrated =
  (...problems: readonly string[]): Happening =>
  ({ thread }) => {
    const migrationId = thread.migrating?.migrationId ?? 'mig_none';
    return { kind: 'MigrationResult', id: `mr:${migrationId}`, migrationId, migrated: [], problems };
  };

describe('a question of a server', () => {
  it('R34 about a call of another server is not asked, be it a login or a choice', () => {
    for (const asked of [loginAsked(), choiceAsked()]) {
      const foreign: Happening = (scene) => ({ ...asked(scene), toolServer: 'other' }) as ThreadInput;
      expect(given(...asking()).when(foreign).refusal).toBe('NOT_PENDING');
    }
  });

  it('R58 stops the clock of its tool: after the answer its time begins anew', () => {
    const limits = { toolTimeoutMs: { default: 60_000 } };
    const answer = given(...asking({ limits }), choiceAsked()).when({
      at: 1_900_000,
      input: chosen({ answer: 'selected', selected: 0 }),
    });
    expect(Object.values(answer.thread.timers)).toMatchObject([{ reason: 'tool_timeout', due: 1_960_000 }]);
    const late = after(answer.scene, { at: 1_930_000, input: timerFired(0) });
    expect(late.steps.at(-1)?.decision).toEqual({ committed: false, refusal: 'NO_TIMER' });
  });

  it('R92 stays open, and its call with it, when the user says something else meanwhile', () => {
    const { types, thread, owes } = given(...asking(), choiceAsked()).when(said('m2'));
    expect(types).toEqual(['ToolCallDetached', 'MessageAccepted', 'CompletionRequested']);
    expect(Object.keys(thread.choices)).toHaveLength(1);
    expect(owes).not.toContain('AnswerChoice');
  });
});

describe('an interruption', () => {
  it('R85 leaves a login alone unless it is asked to end what waits for people too', () => {
    const scene = [...asking(), loginAsked()];
    expect(given(...scene).when(interrupt()).types).toEqual(['RequestRefused']);
    const ended = given(...scene).when(interrupt('req_h', true));
    expect(ended.types).toContain('ToolCallSettled');
    expect(ended.owes).toEqual(expect.arrayContaining(['ForgetLogin', 'SendCancelNotices']));
  });

  it('R64 R65 of a call that runs on by itself tells every server of the agent', () => {
    const keeping = asking({ policies: { onInterrupt: 'keep' }, toolServers: ['tools', 'more'] });
    const { effects, types } = given(...keeping, said('m2')).when(cancel());
    expect(types[0]).toBe('ToolCallSettled');
    expect(effects).toContainEqual(
      expect.objectContaining({ do: 'SendCancelNotices', toolServers: ['tools', 'more'] }),
    );
  });
});

describe('a subscription', () => {
  it('R78 that is cancelled is taken back everywhere, also where nobody subscribed', () => {
    const scene = play(...watching({ toolServers: ['tools', 'more'] }));
    const request = { kind: 'CancelSubscriptionRequest', id: 'c:u', requestId: 'req_u' } as const;
    const { effects } = given(...watching({ toolServers: ['tools', 'more'] })).when({
      ...request,
      toolCallId: callId(scene),
    });
    expect(effects).toMatchObject([{ do: 'SendCancelNotices', toolServers: ['tools', 'more'] }]);
  });

  it('R75 ends with its final event also when that event has to wait for a child', () => {
    const crowd = Array.from({ length: 100 }, (_, place) => ({
      at: 100_000 * (place + 1),
      input: happened(0, `e${place}`),
    }));
    const { thread, types } = given(...watching(), ...crowd).when(happened(0, 'the last', { final: true }));
    expect(thread.queuedEvents).toHaveLength(1);
    expect(types).toContain('SubscriptionClosed');
    expect(thread.subscriptions).toEqual({});
    const freed = given(...watching(), ...crowd, happened(0, 'the last', { final: true })).when(reported(0));
    expect(freed.types).toContain('ChildSpawned');
  });
});

describe('what was allowed for a thread', () => {
  it('R104 is asked again when the tool’s manifest has changed', () => {
    const changed: Happening = (scene) => {
      const loaded = toolsLoaded(scene) as Extract<ThreadInput, { kind: 'ToolsetsResult' }>;
      return { ...loaded, toolsets: [{ ...toolset, sha256: 'manifest-2' }] };
    };
    const refresh: ThreadInput = { kind: 'RefreshToolsetsRequest', id: 'c:r', requestId: 'req_r' };
    const erase = call('delete_everything', { what: 'all' });
    const allowed = [
      ...idle(),
      said('m1'),
      answered('', erase),
      decided('allow_for_thread'),
      result(),
      answered('done'),
    ];
    expect(given(...allowed, said('m2')).when(answered('', erase)).owes).toContain('InvokeTool');
    const again = given(...allowed, refresh, changed, said('m2')).when(answered('', erase));
    expect(again.types).toContain('ChoiceRequested');
    expect(again.owes).not.toContain('InvokeTool');
  });
});

describe('a migration', () => {
  const erase = [said('m2'), answered('', call('clock'))];

  it('R103 that failed leaves every address as it was', () => {
    const { thread } = given(...asking(), result(), answered('ok'), migration).when(migrated('it refused'));
    expect(thread.baseUrls).toEqual({});
  });

  it('R102 that went well is the family’s: what a child sends goes to the new address', () => {
    const moved = play(...watching(), migration, migrated(), toolsLoaded, happened(0, 'somebody came'));
    expect(moved.thread.baseUrls).toEqual({ tools: 'https://new.example' });
    const child = play(openingOf(moved), answered('', call('clock')));
    const sent = child.effects.find((effect) => effect.do === 'InvokeTool');
    expect(sent).toMatchObject({ baseUrls: { tools: 'https://new.example' } });
    const own = play(...watching(), migration, migrated(), toolsLoaded, ...erase);
    expect(own.effects.findLast((effect) => effect.do === 'InvokeTool')).toMatchObject({
      baseUrls: { tools: 'https://new.example' },
    });
  });
});

describe('a schedule that skips what it missed', () => {
  const scheduled: ThreadInput = {
    kind: 'ScheduleRequest',
    id: 'c:s',
    requestId: 'req_s',
    scheduleId: 'sch_1',
    schedule: { cron: '0 * * * *', timeZone: 'UTC', message: 'stand up', missed: 'skip' },
  };

  it('says nothing about the only time that it missed either', () => {
    const { events, types } = given(...idle(), scheduled).when({ at: 3_600_000 + 600_000, input: timerFired() });
    expect(events).toContainEqual(expect.objectContaining({ type: 'ScheduleCame', missed: 0, skipped: true }));
    expect(types).not.toContain('CompletionRequested');
  });

  it('is not too late within a minute', () => {
    const { events } = given(...idle(), scheduled).when({ at: 3_600_000 + 59_000, input: timerFired() });
    expect(events).toContainEqual(expect.objectContaining({ type: 'ScheduleCame', skipped: false }));
  });
});

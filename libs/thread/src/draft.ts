// A decision that is being made: events are folded as they are emitted, so that every rule sees the current thread.
// Lives for one call of `decide`; only the rules use it.
import type { Decision } from './decision.ts';
import type { ThreadEffect } from './effect.ts';
import type { Cause, RecordedEvent, ThreadEvent } from './event.ts';
import { evolve } from './evolve.ts';
import type { IdPrefix, Moment } from './moment.ts';
import { QuestionChanges } from './rules/questions.ts';
import type { Thread } from './thread.ts';

export class Draft {
  readonly moment: Moment;
  readonly #events: RecordedEvent[] = [];
  readonly #effects: ThreadEffect[] = [];
  readonly #questions = new QuestionChanges();
  #thread: Thread;
  #cause: Cause;

  constructor(thread: Thread, cause: Cause, moment: Moment) {
    this.#thread = thread;
    this.#cause = cause;
    this.moment = moment;
  }

  /** The thread after everything emitted so far. */
  get thread(): Thread {
    return this.#thread;
  }

  /** Records a fact. It belongs to the current turn unless it begins one. */
  emit(event: ThreadEvent, turnId: string = this.#thread.turnId ?? this.#cause.id): void {
    const recorded: RecordedEvent = { ...event, turnId, cause: this.#cause };
    this.#events.push(recorded);
    const before = this.#thread;
    this.#thread = evolve(before, recorded, this.moment.now);
    this.#questions.see(event.type, before, this.#thread);
  }

  /** Records a debt. */
  owe(effect: ThreadEffect): void {
    this.#effects.push(addressed(effect, this.#thread.baseUrls));
  }

  /** From here on another input is the cause: a queued message whose turn begins. */
  because(cause: Cause): void {
    this.#cause = cause;
  }

  get cause(): Cause {
    return this.#cause;
  }

  /** A fresh id, a function of the position that the next event will have. */
  mint(prefix: IdPrefix): string {
    return this.moment.mint(prefix, this.#thread.position + 1);
  }

  decided(): Decision {
    const effects = [...this.#effects, ...this.#questions.effects(this.#thread)];
    return { committed: true, events: this.#events, effects, thread: this.#thread };
  }
}

/** An effect for a tool server contains the address of a migrated one: an effect is complete. (effect F2) */
function addressed(effect: ThreadEffect, baseUrls: Thread['baseUrls']): ThreadEffect {
  if (Object.keys(baseUrls).length === 0) return effect;
  switch (effect.do) {
    case 'LoadToolsets':
    case 'InvokeTool':
    case 'SendCancelNotices':
    case 'SendCloseNotices':
    case 'AnswerChoice':
    case 'MigrateToolServers':
      return { ...effect, baseUrls };
    default:
      return effect;
  }
}

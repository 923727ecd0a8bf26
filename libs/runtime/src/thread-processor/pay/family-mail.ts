// Inputs that one thread owes another of its family: a child's opening, a report, a message; and the input by which a
// thread learns of its own debt that cannot be paid. Sent beside the lane, never in it: a thread that wrote to itself
// inside its slice, or two to each other, would wait for ever.
//
// Invariants:
//   F1. The deliveries that led to a mail are held until the mail is durable; a mail that cannot be sent stays owed,
//       and the next owner pays it again under the same id.
//   F2. From one thread to another mails arrive in the order in which they were owed.
//   F3. A child's row is written before its opening, so that a client that finds the child's id can read the child.
import { backoffMs } from '@dormouse/collections';
import { type Clock, type Entropy, type Logger, type Stores, type ThreadKey } from '@dormouse/ports';
import type { ReportToParent, SendToChild, SpawnChild, ThreadInput, ThreadOpening } from '@dormouse/thread';
import { faultCode } from '../../fault-code.ts';
import { childRow } from '../../log/child-row.ts';
import type { ProcessorSettings } from '../settings.ts';
import type { Hold } from './held-deliveries.ts';

export type MailEffect = SpawnChild | ReportToParent | SendToChild;

type Letter = MailEffect | { readonly do: 'HearBack'; readonly id: string; readonly input: ThreadInput };

export interface FamilyMail {
  /** Returns at once; `hold` is kept until the mail is durable. */
  send(from: Sender, effect: MailEffect, hold: Hold): void;
  /** The same for an input to the sender itself. */
  sendBack(from: Sender, input: ThreadInput, hold: Hold): void;
  /** Mails under way. */
  readonly waiting: number;
  close(): void;
}

interface Sender {
  readonly key: ThreadKey;
  readonly at: number;
  readonly trace: string | null;
  /** Of what caused a child, beside what it goes on in. */
  readonly link?: string;
  settled(): void;
}

export interface FamilyMailDeps extends Pick<Stores, 'inputs' | 'directory'> {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly logger: Logger;
  readonly settings: Pick<ProcessorSettings, 'retryDelayMsFirst' | 'retryDelayMsMax'>;
}

export function createFamilyMail(deps: FamilyMailDeps): FamilyMail {
  const { inputs, directory, clock, entropy, logger, settings } = deps;
  const closed = new AbortController();
  /** The last mail under way, by sender and receiver. (F2) */
  const last = new Map<string, Promise<boolean>>();
  let waiting = 0;

  async function deliver(from: Sender, effect: Letter): Promise<void> {
    const { tenant, thread } = from.key;
    switch (effect.do) {
      case 'HearBack':
        return inputs.publish(from.key, effect.input, from.trace);
      case 'SpawnChild':
        await directory.insert(childRow(from, effect)); // (F3)
        return inputs.publish({ tenant, thread: effect.childId }, openingOf(from, effect), from.trace);
      case 'ReportToParent': {
        const { id, parentId, report, closed: last } = effect;
        const input: ThreadInput = { kind: 'ChildReport', id, childId: thread, report, closed: last };
        return inputs.publish({ tenant, thread: parentId }, input, from.trace);
      }
      case 'SendToChild': {
        const { id, childId, content } = effect;
        const input: ThreadInput = { kind: 'ParentMessage', id, parentId: thread, content };
        return inputs.publish({ tenant, thread: childId }, input, from.trace);
      }
    }
  }

  async function persist(from: Sender, effect: Letter): Promise<boolean> {
    for (let failures = 1; !closed.signal.aborted; failures++) {
      try {
        await deliver(from, effect);
        return true;
      } catch (error) {
        const code = faultCode(error);
        if (code === 'RECORD_TOO_LARGE') {
          logger.error('family_mail_too_large', { ...from.key, effect: effect.do, id: effect.id });
          return true; // no later attempt can change it
        }
        if (failures === 1) logger.warn('family_mail_delayed', { ...from.key, effect: effect.do, code });
        const { retryDelayMsFirst, retryDelayMsMax } = settings;
        await clock.sleep(backoffMs(failures, retryDelayMsFirst, retryDelayMsMax, entropy), closed.signal);
      }
    }
    return false;
  }

  function send(from: Sender, effect: Letter, hold: Hold): void {
    hold.retain(); // (F1)
    waiting += 1;
    const way = JSON.stringify([from.key.tenant, from.key.thread, receiverOf(from, effect)]);
    const before = last.get(way) ?? Promise.resolve(true);
    const mail = before.then((sent) => sent && persist(from, effect));
    last.set(way, mail);
    void mail.then((sent) => {
      waiting -= 1;
      if (last.get(way) === mail) last.delete(way);
      if (!sent) return; // never dropped: the next owner gets the deliveries again
      hold.drop();
      from.settled();
    });
  }

  return {
    send,
    sendBack: (from, input, hold) => send(from, { do: 'HearBack', id: input.id, input }, hold),
    get waiting() {
      return waiting;
    },
    close: () => closed.abort(),
  };
}

const openingOf = ({ link }: Sender, { opening }: SpawnChild): ThreadOpening =>
  link === undefined ? opening : { ...opening, link };

function receiverOf({ key }: Sender, effect: Letter): string {
  if (effect.do === 'HearBack') return key.thread;
  return effect.do === 'ReportToParent' ? effect.parentId : effect.childId;
}

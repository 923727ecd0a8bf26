// Inputs that wait in parked threads, sealed: each is stored as a message that has the sealed input as its text.
import type { ParkedInput, ParkedThreads, ThreadKey } from '@dormouse/ports';
import type { ThreadInput } from '@dormouse/thread';
import type { Place } from './content-seal.ts';
import type { SealingDeps } from './sealed-copies.ts';

const sealedMessage = 'sealed';

export function sealedParking(parked: ParkedThreads, { seal, families }: SealingDeps): ParkedThreads {
  const placeOf = ({ thread }: ThreadKey, inputId: string): Place => ['parked', thread, inputId];
  return {
    ...parked,
    async add(key, input, trace, at) {
      const place = placeOf(key, input.id);
      const inside = await seal.seal(key.tenant, await families.of(key), place, JSON.stringify(input));
      // Of an erased family the id alone is kept: the thread is closed, and refuses what it gets.
      await parked.add(key, envelopeOf(input.id, inside ?? ''), trace, at);
    },
    async inputs(key) {
      const stored = await parked.inputs(key);
      const sealed = stored.map(({ input }) => ({ place: placeOf(key, input.id), text: insideOf(input) ?? '' }));
      const texts = await seal.openAll(key.tenant, sealed);
      return stored.map((each, index): ParkedInput => {
        const text = texts[index] ?? '';
        return insideOf(each.input) === null || text === ''
          ? each
          : { ...each, input: JSON.parse(text) as ThreadInput };
      });
    },
  };
}

const envelopeOf = (id: string, inside: string): ThreadInput => ({
  ...{ kind: 'UserMessage', id, messageId: sealedMessage },
  content: [{ type: 'text', text: inside }],
});

/** Null for an input that is not sealed. */
function insideOf(input: ThreadInput): string | null {
  if (input.kind !== 'UserMessage' || input.messageId !== sealedMessage) return null;
  const [item] = input.content;
  return item?.type === 'text' && 'text' in item ? (item.text ?? null) : null;
}

// What readers of event streams are shown. I-19
import { type Reading, threadName } from './reading.ts';

/** I-19: a stream gives every committed event once, in order, without a gap, over any number of connections. */
export function streamsAreGapless({ history, byName }: Reading): readonly string[] {
  return history.streams.flatMap(({ key, events }) => {
    const name = threadName(key);
    const committed = byName.get(name)?.events ?? [];
    const wrong = events.findIndex(
      ({ position, type }, index) => position !== index + 1 || type !== wireType(committed[index]?.event.type),
    );
    if (wrong >= 0)
      return [
        `${name}: the stream gave ${events[wrong]?.type} at ${events[wrong]?.position} where ${wireType(committed[wrong]?.event.type)} at ${wrong + 1} was due`,
      ];
    const missing = history.unrest !== null && events.length < committed.length;
    return missing ? [`${name}: the stream gave ${events.length} of ${committed.length} events`] : [];
  });
}

/** The API's spelling: `MessageAccepted` is `message_accepted`. */
const wireType = (type = 'nothing'): string =>
  type.replace(/[A-Z]/g, (letter, index) => (index > 0 ? '_' : '') + letter.toLowerCase());

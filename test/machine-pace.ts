// How fast this machine computes at the moment. Virtual machines run at half their speed for minutes; a limit in
// milliseconds of computing means nothing then, unless it grows as much.

const value = Array.from({ length: 2_000 }, (_, index) => ({ id: `call_${index}`, text: 'x'.repeat(100), at: index }));
const text = JSON.stringify(value);
const rounds = 20;
/** The reference where the limits were set: processor time, so that other load does not count. */
const nominalMs = 30;

/** 1 on the reference machine and on anything faster; 2 where everything takes twice as long. */
export function slownessOfMachine(): number {
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) JSON.stringify(JSON.parse(text));
  const { user, system } = process.cpuUsage(before);
  return Math.max(1, (user + system) / 1_000 / nominalMs);
}

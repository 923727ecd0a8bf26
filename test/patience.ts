// How long specs wait for what must come about. Not a promise about speed: a machine that others share may stand still for half
// a minute, and a spec that then fails says nothing about the system. Whoever promises a time asserts it.

export const patienceMs = 60_000;

/** Of a whole spec, and of what prepares it: enough to lose patience a few times and say over what. */
export const specPatienceMs = 4 * patienceMs;

// How long specs wait for an expected event. Not a guarantee about speed: a shared machine may stand still for half a
// minute, and a spec that then fails says nothing about the system. A spec about a time limit asserts that itself.

export const patienceMs = 60_000;

/** Of a whole spec and its hooks: enough for a few of these waits to fail and be reported. */
export const specPatienceMs = 4 * patienceMs;

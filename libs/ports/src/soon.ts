// What is here at once nearly always, and must be waited for now and then: a promise for each would cost a turn more than what it
// brings. ADR 28
//
// Invariant:
//   S1. A port that answers soon never throws: who fails is a promise that rejects. So whoever asks two things at once loses neither.

export type Soon<Value> = Value | Promise<Value>;

/** What `make` answers; what it throws is a promise that rejects. (S1) */
export function soon<Value>(make: () => Soon<Value>): Soon<Value> {
  try {
    return make();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Goes on at once with what is here. @throws what `goOn` throws then */
export const whenHere = <Value, Result>(value: Soon<Value>, goOn: (value: Value) => Soon<Result>): Soon<Result> =>
  value instanceof Promise ? value.then(goOn) : goOn(value);

// What is here at once nearly always, and must be waited for now and then: a promise for each would cost a turn more than what it
// brings. ADR 28
export type Soon<Value> = Value | Promise<Value>;

/** Goes on at once with what is here. @throws what `goOn` throws then */
export const whenHere = <Value, Result>(value: Soon<Value>, goOn: (value: Value) => Soon<Result>): Soon<Result> =>
  value instanceof Promise ? value.then(goOn) : goOn(value);

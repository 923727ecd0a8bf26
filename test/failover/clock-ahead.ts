// Given to a service with `--import`: its machine's clock is a minute ahead.
const aheadMs = 60_000;
const Machine = Date;

globalThis.Date = new Proxy(Machine, {
  construct: (target, given: readonly unknown[], made) =>
    Reflect.construct(target, given.length === 0 ? [Machine.now() + aheadMs] : given, made) as Date,
  get: (target, name, self) => (name === 'now' ? () => Machine.now() + aheadMs : Reflect.get(target, name, self)),
});

// Injection tokens of the controllers; explicit, because nothing here relies on emitted types.
export const INGRESS = Symbol('ingress');
export const MODELS = Symbol('models');
export const CLOCK = Symbol('clock');
export const BACKUPS = Symbol('backups');
export const MASTER_KEYS = Symbol('master keys');
export const DEV_CLOCK = Symbol('development clock');
export const PUBLIC_URL = Symbol('public address');

// Log entries of a service for its operators: an event name and fields, never a sentence with values in it. No bodies,
// no secrets: the caller chooses the fields.
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Logger {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/**
 * Owns: what the generated code of a meta-schema is: a function that says whether it takes a value, and why not.
 */

export interface MetaSchemaError {
  readonly keyword: string;
  /** JSON Pointer to the value. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

export interface MetaSchemaJudge {
  (value: unknown): boolean;
  /** Of the last value; null when it was taken. */
  readonly errors?: readonly MetaSchemaError[] | null;
}

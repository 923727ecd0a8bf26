/**
 * Owns: turning JSON text into a value, exactly. Use it instead of `JSON.parse` wherever a key may be anybody's.
 * Not here: judging strangers' text; that is `checkJson`, which reads through this file too.
 *
 * 1. V8 12.8 and later can read an escaped key as another key: after `{"a":1,"\\":2}` was parsed anywhere in the process,
 *    `JSON.parse('{"a":1,"\\u0061":2}')` answers a key `\` (nodejs/node#63785, still open for Node 24). A log that is read
 *    back must say what was written, so text with an escaped key goes through a reader of our own.
 * 2. Text without a backslash, which is nearly all of it, costs one native search more than `JSON.parse`.
 * 3. The reader recurses as deep as the text is nested; strangers' text is bounded before it gets here.
 */
import { endOfString, scanJson } from './json-scan.ts';

/** The value of JSON text. @throws SyntaxError as `JSON.parse` does. */
export function readJson(text: string): unknown {
  if (!text.includes('\\')) return JSON.parse(text); // (2)
  const scan = scanJson(text, Number.POSITIVE_INFINITY);
  return typeof scan === 'string' || !scan.escapedKeys ? JSON.parse(text) : readEscapedKeys(text);
}

/** The same value by a reader that never uses V8's own for an object. Slow: a few megabytes per second and up. */
export function readEscapedKeys(text: string): unknown {
  const reader = new Reader(text);
  const value = reader.value();
  reader.end();
  return value;
}

const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const space = /[ \t\r\n]*/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): unknown {
    const next = this.#peek();
    if (next === '{') return this.#object();
    if (next === '[') return this.#array();
    return next === '"' ? this.#string() : this.#scalar();
  }

  end(): void {
    if (this.#peek() !== '') this.#fail();
  }

  #object(): Record<string, unknown> {
    const value: Record<string, unknown> = {};
    this.#list('{', '}', () => {
      if (this.#peek() !== '"') this.#fail();
      const key = this.#string();
      this.#take(':');
      const member = this.value();
      // Like `JSON.parse`, a member named `__proto__` is a member and not the prototype.
      if (key === '__proto__')
        Object.defineProperty(value, key, { value: member, enumerable: true, configurable: true, writable: true });
      else value[key] = member;
    });
    return value;
  }

  #array(): unknown[] {
    const value: unknown[] = [];
    this.#list('[', ']', () => value.push(this.value()));
    return value;
  }

  #list(open: string, close: string, item: () => void): void {
    this.#take(open);
    if (this.#peek() === close) return this.#take(close);
    for (;;) {
      item();
      if (this.#peek() === close) return this.#take(close);
      this.#take(',');
    }
  }

  /** A lone string is safe to give to `JSON.parse`, which also refuses bad escapes and control characters. */
  #string(): string {
    const end = endOfString(this.#text, this.#at);
    const value = JSON.parse(this.#text.slice(this.#at, end + 1)) as string;
    this.#at = end + 1;
    return value;
  }

  #scalar(): unknown {
    scalar.lastIndex = this.#at;
    const found = scalar.exec(this.#text)?.[0];
    if (found === undefined) return this.#fail();
    this.#at += found.length;
    return JSON.parse(found);
  }

  #peek(): string {
    space.lastIndex = this.#at;
    space.exec(this.#text);
    this.#at = space.lastIndex;
    return this.#text.charAt(this.#at);
  }

  #take(character: string): void {
    if (this.#peek() !== character) this.#fail();
    this.#at++;
  }

  #fail(): never {
    throw new SyntaxError(`Unexpected character in JSON at position ${this.#at}`);
  }
}

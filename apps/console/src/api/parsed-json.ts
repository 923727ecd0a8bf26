// A text that should be JSON: its value, or what is wrong with it.

export type ParsedJson =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly detail: string };

export function parsedJson(text: string): ParsedJson {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, detail: error.message };
    throw error;
  }
}

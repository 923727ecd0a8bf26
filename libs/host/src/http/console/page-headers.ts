// Headers of pages that this server sends to a browser. Nothing inline and nothing from elsewhere runs or loads.
//
// `data:` and `blob:` are for images alone: those of messages and views, which are shown from what the API answered.

const policy: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'font-src': "'self'",
  'img-src': "'self' data: blob:",
  'connect-src': "'self'",
  'manifest-src': "'self'",
  'object-src': "'none'",
  'frame-ancestors': "'none'",
  'base-uri': "'none'",
  'form-action': "'self'",
};

/** Of a page without scripts, whose style is a file of this server. */
const plainPolicy =
  "default-src 'none'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

const always = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
} as const;

export const consoleHeaders: Readonly<Record<string, string>> = {
  ...always,
  'content-security-policy': Object.entries(policy)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; '),
};

export const plainPageHeaders: Readonly<Record<string, string>> = {
  ...always,
  'content-security-policy': plainPolicy,
  'cache-control': 'no-store',
  'content-type': 'text/html; charset=utf-8',
};

/** A page without scripts, whose style is a file of this server. */
export const documentHeaders: Readonly<Record<string, string>> = {
  ...always,
  'content-security-policy': plainPolicy.replace("'none';", "'none'; style-src 'self';"),
  'cache-control': 'no-cache',
};

/** A page of a few sentences, which are HTML already. */
export const plainPage = (title: string, ...paragraphs: readonly string[]): string =>
  [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>`,
    `<body><h1>${title}</h1>`,
    ...paragraphs.map((paragraph) => `<p>${paragraph}</p>`),
    '</body>',
    '</html>',
    '',
  ].join('\n');

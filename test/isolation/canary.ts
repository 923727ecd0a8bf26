// Words that say whose they are: put into every content of a tenant, and looked for wherever bytes go.
//
// Invariants:
//   N1. A canary names its tenant and what it stands in. It has no character that JSON, a URL or a header writes in
//       another way, so that a search finds it in all of them.
//   N2. What is hidden is a credential or leads to one; all else is a content.

/** A content. */
export const canaryOf = (tenant: string, what: string): string => `canary.${tenant}.${what}`;

/** A credential. (N2) */
export const hiddenOf = (tenant: string, what: string): string => `hidden.${tenant}.${what}`;

export interface Found {
  readonly tenant: string;
  readonly what: string;
}

const pattern = /(canary|hidden)\.([a-z]+-[0-9a-f]{8})\.([a-z-]+)/g;

const found = (text: string, sort: 'canary' | 'hidden'): readonly Found[] => {
  const all = [...text.matchAll(pattern)].filter(([, is]) => is === sort);
  const each = new Map(all.map(([word, , tenant = '', what = '']) => [word, { tenant, what }]));
  return [...each.values()];
};

/** Each once. (N1) */
export const canariesIn = (text: string): readonly Found[] => found(text, 'canary');
export const hiddenIn = (text: string): readonly Found[] => found(text, 'hidden');

/** Canaries of others, and the names of other tenants. */
export function foreignIn(text: string, own: string, tenants: readonly string[]): readonly string[] {
  const contents = canariesIn(text).filter(({ tenant }) => tenant !== own);
  const names = tenants.filter((tenant) => tenant !== own && text.includes(tenant));
  return [...contents.map(({ tenant, what }) => `${what} of ${tenant}`), ...names.map((name) => `the name ${name}`)];
}

// Where a text may become a tenant's id (libs/thread/src/tenant-id.ts, N1): a claim of the identity provider, the
// platform's path, a callback URL, and what a name of ours was joined of. Every other file takes the id that it has.
//
// The compiler refuses a plain text where an id is asked for; this rule refuses the ways around it. It does not see
// the type that a row of a store is read as: those are in the adapters, beside the query.
import ts from 'typescript';
import { complaints, isSpec, isTypeScript, type SourceFile, type Violation } from './source-file.ts';

const home = 'libs/thread/src/tenant-id.ts';

type Maker = 'tenantId' | 'parseTenantId' | 'storedTenantId';

const isMaker = (name: string): name is Maker => ['tenantId', 'parseTenantId', 'storedTenantId'].includes(name);

/** For each file the makers that it may call, and why. */
export const makersOf: Readonly<Record<string, readonly Maker[]>> = {
  // A claim of a token whose signature is good.
  'libs/runtime/src/ingress-gateway/access/oidc/identity-token.ts': ['parseTenantId'],
  // The platform's path and body, and what its audit is about.
  'libs/host/src/http/control-plane/tenant-controller.ts': ['tenantId', 'parseTenantId'],
  'libs/host/src/http/control-plane/answer-interceptor.ts': ['parseTenantId'],
  // A callback URL, which is believed only after its MAC was compared.
  'libs/runtime/src/callback-gateway/callback-token.ts': ['storedTenantId'],
  // Names that were joined of an id and something else.
  'libs/adapters/mongo/src/log/commit-places.ts': ['storedTenantId'],
  'libs/ports/src/bus/work-places.ts': ['storedTenantId'],
  'libs/runtime/src/thread-processor/thread-processor.ts': ['storedTenantId'],
  'libs/runtime/src/tool-dispatcher/deliver/server-gate.ts': ['storedTenantId'],
  'libs/runtime/src/tool-health/tool-watch.ts': ['storedTenantId'],
  // The attribute of a span of ours.
  'libs/runtime/src/tracing/content-switch.ts': ['storedTenantId'],
};

/** The product's files alone: specs, contract suites and the simulation make the tenants that they need. */
const isProduct = ({ path }: SourceFile): boolean =>
  !isSpec(path) && !/^libs\/(testing\/|ports\/src\/contracts\/)/.test(path) && path !== home;

export function tenantIdLine(
  files: readonly SourceFile[],
  allowed: Readonly<Record<string, readonly Maker[]>> = makersOf,
): Violation[] {
  return files
    .filter((file) => isTypeScript(file) && isProduct(file))
    .flatMap((file) => complaints(file, (node) => complaintAbout(node, allowed[file.path] ?? [])));
}

/** Files of the list that make no id: the list is no longer than it must be. */
export function unusedMakers(
  files: readonly SourceFile[],
  allowed: Readonly<Record<string, readonly Maker[]>> = makersOf,
): readonly string[] {
  return Object.entries(allowed).flatMap(([path, makers]) => {
    const text = files.find((file) => file.path === path)?.text ?? '';
    return makers.filter((maker) => !new RegExp(`\\b${maker}\\(`).test(text)).map((maker) => `${path}: ${maker}`);
  });
}

function complaintAbout(node: ts.Node, allowed: readonly Maker[]): string | undefined {
  if (isAssertion(node) && /\bTenantId\b/.test(node.type.getText())) return 'asserts that a text is a tenant’s id';
  if (!ts.isIdentifier(node) || ts.isImportSpecifier(node.parent) || ts.isExportSpecifier(node.parent))
    return undefined;
  return isMaker(node.text) && !allowed.includes(node.text) ? `makes a tenant's id with ${node.text}` : undefined;
}

const isAssertion = (node: ts.Node): node is ts.AsExpression | ts.TypeAssertion =>
  ts.isAsExpression(node) || ts.isTypeAssertionExpression(node);

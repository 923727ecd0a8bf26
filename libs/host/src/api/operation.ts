// One operation of the client API: everything the HTTP server must know about it. Validation, authorisation, routing
// and the OpenAPI document are all derived from this one description.
import type { Scope } from '@dormouse/ports';
import type { AuditAction, ThreadAbility } from '@dormouse/runtime';
import type { z } from 'zod';

/**
 * Required access: a scope of a key, and a capability of a thread token; null where a token is never enough. Of several
 * one opens the door, and the handler asks for the one that its request needs.
 */
export interface Access {
  readonly scope: Scope;
  readonly ability: ThreadAbility | readonly ThreadAbility[] | null;
  /** Set where the path names no thread: the handler finds it, and asks whether a token opens it. */
  readonly thread?: 'found_later';
  /** It concerns threads of all agents: a key for some of them is refused. */
  readonly ofAllAgents?: true;
  /** It concerns the installation: a key of another tenant than `local` is refused. */
  readonly ofInstallation?: true;
}

export interface Audited {
  /** Or how it follows from the body; null for what is not recorded. */
  readonly action: AuditAction | ((body: unknown) => AuditAction | null);
  /** As in `location`: `{{member}}` of the answer, `{parameter}` of the path. Absent where there is none. */
  readonly target?: string;
}

/** How a patch is in the audit, by the `state` that its body names. */
export const byState =
  (actions: Readonly<Record<string, AuditAction>>, otherwise: AuditAction) =>
  (body: unknown): AuditAction =>
    actions[(body as { readonly state?: string }).state ?? ''] ?? otherwise;

/** What only the platform key may do. */
export type PlatformAccess = 'platform';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Path = `/${string}`;

/** As a table has it; its key there names it in the OpenAPI document. */
interface Description {
  /** The path with `{parameter}` as in OpenAPI. */
  readonly route: `${Method} ${Path}`;
  readonly summary: string;
  /** 'open' needs no key. */
  readonly access: Access | PlatformAccess | 'open';
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** True when the request may come without a body. */
  readonly bodyOptional?: boolean;
  /** Answers by status; null for one without a body, a media type for one that is not JSON. */
  readonly answers: Readonly<Record<number, z.ZodType | string | null>>;
  /** True when the answer holds a credential: a store that keeps the answer must seal it. */
  readonly answersSecret?: boolean;
  /**
   * Address of what a 201 has made: `{{member}}` is a member of the answer, `{parameter}` one of the path. Absent where
   * it has none.
   */
  readonly location?: string;
  /** Recorded in the audit when it was done. */
  readonly audit?: Audited;
  /** Codes of the problems it may answer besides those that every operation has. */
  readonly problems?: readonly string[];
}

export interface Operation extends Description {
  readonly id: string;
  readonly tag: string;
  readonly method: Method;
  readonly path: Path;
}

type OperationOf<
  Id,
  Described extends Description,
> = Described['route'] extends `${infer At extends Method} ${infer To extends Path}`
  ? Described & { readonly id: Id; readonly tag: string; readonly method: At; readonly path: To }
  : never;

/** The operations of a tag by their names. Keeps their exact types, so that a handler's call is typed by them. */
export const operationsOf = <const Table extends Readonly<Record<string, Description>>>(tag: string, table: Table) =>
  Object.fromEntries(
    Object.entries(table).map(([id, described]) => {
      const [method, path] = described.route.split(' ');
      return [id, { ...described, id, tag, method, path }];
    }),
  ) as { readonly [Id in keyof Table]: OperationOf<Id, Table[Id]> };

export const admin: Access = { scope: 'tenant:admin', ability: null };
export const adminOfAll: Access = { ...admin, ofAllAgents: true };
/** Of an installation that has one tenant, or of the tenant that every installation has. */
export const installationAdmin: Access = { ...adminOfAll, ofInstallation: true };
export const reader: Access = { scope: 'read', ability: null };
export const readerOfAll: Access = { ...reader, ofAllAgents: true };
export const threadReader: Access = { scope: 'read', ability: 'read' };
export const threadWriter: Access = { scope: 'threads:write', ability: null };
export const talker: Access = { scope: 'threads:write', ability: 'message' };
export const answerer: Access = { scope: 'approvals:write', ability: 'answer' };
export const talkerOrAnswerer: Access = { scope: 'threads:write', ability: ['message', 'answer'] };

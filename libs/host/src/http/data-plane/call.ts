// One request to one operation, as passed to its handler: the caller, the route, and validated values.
import { pointerTo } from '@dormouse/json';
import { Fault, type TenantId } from '@dormouse/ports';
import type { RequestOrigin } from '@dormouse/runtime';
import {
  createParamDecorator,
  type ExecutionContext,
  RequestMethod,
  RequestMapping,
  applyDecorators,
  SetMetadata,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Operation } from '../../api/operation.ts';
import { operations } from '../../api/operations.ts';
import { checked, readBody } from './body.ts';
import type { Caller } from '../door/caller.ts';
import { HttpProblem } from '../problems/problem.ts';
import { patternOf } from '../server/route-name.ts';

export const operationMetadata = 'dormouse:operation';

type Parsed<Described, Part extends 'query' | 'body'> =
  Described extends Readonly<Record<Part, infer Schema extends z.ZodType>> ? z.output<Schema> : undefined;

type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

type OperationName = keyof typeof operations;
type Described<Name extends OperationName> = (typeof operations)[Name];

export interface Call<Name extends OperationName = OperationName> {
  readonly tenant: TenantId;
  readonly caller: Caller;
  readonly params: Readonly<Record<ParameterOf<Described<Name>['path']>, string>>;
  readonly query: Parsed<Described<Name>, 'query'>;
  readonly body: Parsed<Described<Name>, 'body'>;
  readonly origin: RequestOrigin;
  /** The body as it came, where there is one. */
  readonly bytes: unknown;
}

/** Set before the body of a request is read. */
export interface Attended {
  caller?: Caller;
}

export type ApiRequest = FastifyRequest & Attended;

/** Binds a handler to an operation: its route, its access, its schemas. */
export function Operate(name: OperationName): MethodDecorator {
  const operation = operations[name];
  return applyDecorators(
    SetMetadata(operationMetadata, operation),
    RequestMapping({ method: RequestMethod[operation.method], path: patternOf(operation.path) }),
  );
}

/** The checked call, as a handler's parameter. */
export const OperationCall = createParamDecorator((_: unknown, context: ExecutionContext): Call => {
  const operation = operationOf(context);
  return callOf(operation, context.switchToHttp().getRequest<ApiRequest>());
});

export function operationOf(context: ExecutionContext): Operation {
  const found: unknown = Reflect.getMetadata(operationMetadata, context.getHandler());
  if (found === undefined) throw new Fault('INTERNAL', 'a route without an operation');
  return found as Operation;
}

function callOf(operation: Operation, request: ApiRequest): Call {
  const { caller } = request;
  if (caller === undefined) throw new HttpProblem('UNAUTHENTICATED', 'This needs a key.');
  return {
    tenant: caller.tenant,
    caller,
    params: paramsOf(request),
    query: operation.query === undefined ? noParameters(request) : readQuery(request, operation.query),
    body:
      operation.body === undefined ? noBody(request) : readBody(request.body, operation.body, operation.bodyOptional),
    origin: originOf(caller.tenant, request),
    bytes: request.body,
  } as Call;
}

export function paramsOf(request: FastifyRequest): Readonly<Record<string, string>> {
  return request.params as Readonly<Record<string, string>>;
}

/** The part of a request that its handlers read; Fastify's is one. */
export type PlainRequest = Pick<FastifyRequest, 'method' | 'url' | 'headers' | 'query'>;

export function originOf(tenant: TenantId, request: PlainRequest): RequestOrigin {
  return { tenant, method: request.method, path: pathOf(request.url), idempotencyKey: idempotencyKeyOf(request) };
}

export const idempotencyKeyCharactersMax = 255;

export function idempotencyKeyOf(request: Pick<PlainRequest, 'headers'>): string | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || key.length === 0 || key.length > idempotencyKeyCharactersMax) {
    throw new HttpProblem('INVALID_BODY', `Idempotency-Key must have 1 to ${idempotencyKeyCharactersMax} characters.`);
  }
  return key;
}

export function pathOf(url: string): string {
  const cut = url.indexOf('?');
  return cut < 0 ? url : url.slice(0, cut);
}

export function readQuery<Schema extends z.ZodType>({ query }: FastifyRequest, schema: Schema): z.output<Schema> {
  if (Object.hasOwn(query as object, '__proto__')) throw unknownParameter('__proto__'); // no schema ever sees it
  return checked(schema, query, 'A query parameter cannot be used; see errors.');
}

/** @throws HttpProblem UNKNOWN_FIELD when the request has any query parameter. */
export function noParameters(request: Pick<PlainRequest, 'query'>): undefined {
  const [field] = Object.keys(request.query as object);
  if (field !== undefined) throw unknownParameter(field);
  return undefined;
}

const unknownParameter = (field: string): HttpProblem =>
  new HttpProblem('UNKNOWN_FIELD', 'The request has a query parameter that is not known.', {
    errors: [{ pointer: pointerTo([field]), detail: 'unknown field' }],
  });

const nothing = z.strictObject({});

/** Where no body is defined an empty object counts as none; any field in it is a mistake of the sender. */
export function noBody(request: FastifyRequest): undefined {
  readBody(request.body, nothing, true);
}

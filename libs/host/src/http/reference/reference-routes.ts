// GET /docs: the reference as pages, and the pages of codes. They need no key, no script and nothing from elsewhere.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { openApiDocument } from '../../api/openapi.ts';
import { documentHeaders } from '../console/page-headers.ts';
import { pathOf } from '../data-plane/call.ts';
import { errorPage, isProblemCode } from '../problems/problem-codes.ts';
import { HttpProblem, nothingHere } from '../problems/problem.ts';
import { patternOf } from '../server/route-name.ts';
import { html, pageText, prose } from './html.ts';
import { pageStyle } from './page-style.ts';
import { type ReferenceDocument, referencePages } from './reference-pages.ts';

export function registerReference(server: FastifyInstance, version: string): void {
  const pages = renderedOnce(version);
  const page = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const text = pages(pathOf(request.url).replace(/\/$/, ''));
    if (text === undefined) throw nothingHere();
    return sendHtml(reply, text);
  };
  server.get('/docs', page);
  server.get('/docs/style.css', (_request, reply) =>
    reply.headers({ ...documentHeaders, 'content-type': 'text/css; charset=utf-8' }).send(pageStyle),
  );
  server.get('/docs/*', page);
  server.get<{ Params: { CODE: string } }>(patternOf('/errors/{CODE}'), (request, reply) => {
    const { CODE: code } = request.params;
    if (!isProblemCode(code)) throw new HttpProblem('NOT_FOUND', 'There is no such code.');
    void reply.header('vary', 'Origin, Accept');
    if (!prefersHtml(request))
      return reply.header('content-type', 'text/markdown; charset=utf-8').send(errorPage(code));
    const main = html`${prose(errorPage(code))}
      <p><a href="/docs">Reference</a></p>`;
    return sendHtml(reply, pageText({ title: code, main }));
  });
}

/** Written at the first request: most processes show none. */
function renderedOnce(version: string): (path: string) => string | undefined {
  let pages: ReturnType<typeof referencePages> | null = null;
  return (path) => {
    pages ??= referencePages(parsedDocument(version));
    const page = pages.get(path);
    return page && pageText(page);
  };
}

/** The document as a reader gets it. */
const parsedDocument = (version: string): ReferenceDocument =>
  JSON.parse(JSON.stringify(openApiDocument(version))) as ReferenceDocument;

const sendHtml = (reply: FastifyReply, text: string): FastifyReply =>
  reply.headers({ ...documentHeaders, 'content-type': 'text/html; charset=utf-8' }).send(text);

/** A browser's navigation names HTML; programs and curl get the text. */
const prefersHtml = ({ headers }: FastifyRequest): boolean => /\btext\/html\b/.test(headers.accept ?? '');

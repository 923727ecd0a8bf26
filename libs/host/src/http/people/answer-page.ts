// The page behind an answer link, and what it says when the link works no more. No script, nothing from elsewhere.
//
// Invariants:
//   P1. Everything that came from a model, a tool server or a person is text: it is escaped, and characters that cannot
//       be seen, or that turn the direction of reading, are shown by their numbers.
import type { LinkState, ShownLink } from '@dormouse/runtime';
import { type Html, html, pageText } from '../reference/html.ts';

/** Characters of a reason. */
export const reasonCharactersMax = 2_000;

export function questionPage({ link, choice, operation, toolServer }: ShownLink): string {
  const { arguments: given = {}, warnings = [], expiresAt } = choice;
  const until = new Date(Math.min(link.expiresAt, expiresAt)).toISOString();
  const main = html`<h1>${visible(choice.prompt)}</h1>
    <p>An agent wants to use a tool, and waits for your answer. Nothing is sent to the tool before that.</p>
    <dl>
      <dt>Tool</dt>
      <dd><code>${visible(operation)}</code></dd>
      <dt>Tool server</dt>
      <dd><code>${visible(toolServer ?? '')}</code></dd>
      <dt>This link is for</dt>
      <dd>${visible(link.for)}</dd>
      <dt>It works once, until</dt>
      <dd>${until}</dd>
    </dl>
    <h2 id="arguments">Arguments</h2>
    <pre tabindex="0" aria-labelledby="arguments">${visible(JSON.stringify(given, null, 2))}</pre>
    ${warningList(warnings)}
    <form method="post">
      <p>
        <label for="reason">Reason (may be left empty; the agent reads why you deny)</label><br />
        <textarea id="reason" name="reason" rows="3" cols="40" maxlength="${reasonCharactersMax}"></textarea>
      </p>
      <p>${link.can.map(buttonOf)}</p>
    </form>`;
  return pageText({ title: 'A question for you', main });
}

const warningList = (warnings: readonly string[]): Html =>
  warnings.length === 0
    ? html``
    : html`<p><strong>Some characters of the arguments cannot be seen:</strong></p>
        <ul>
          ${warnings.map((warning) => html`<li>${visible(warning)}</li>`)}
        </ul>`;

const labels = { allow: 'Allow', deny: 'Deny' } as const;

const buttonOf = (answer: keyof typeof labels): Html =>
  html`<button type="submit" name="answer" value="${answer}">${labels[answer]}</button> `;

/** What is shown instead of a question, with its status. */
export interface AnswerNotice {
  readonly status: number;
  readonly page: string;
}

export function noticeOf(state: Exclude<LinkState<never>, { readonly state: 'open' }>): AnswerNotice {
  switch (state.state) {
    case 'unknown':
      return notice(404, 'No such link', 'This address is no link of ours. Was it copied whole?');
    case 'suspended':
      return notice(403, 'Not now', 'The service behind this link is suspended. The link works again when it is not.');
    case 'expired':
      return notice(410, 'This link has expired', 'Ask for another one where you got it.');
    case 'changed':
      return notice(410, 'The question has changed', 'The call has other arguments than this link was made for.');
    case 'over':
      return notice(410, 'This link is used up', endOf(state.settled));
  }
}

function endOf(settled: { readonly decision?: string; readonly by?: string } | null): string {
  const { decision, by } = settled ?? {};
  if (decision === undefined) return 'The question does not wait for an answer any more.';
  return by === undefined ? `The answer was: ${decision}.` : `The answer was: ${decision}, by ${by}.`;
}

export const takenNotice = (answer: keyof typeof labels): AnswerNotice =>
  answer === 'allow'
    ? notice(200, 'Allowed', 'Your answer was taken. You can close this page.')
    : notice(200, 'Denied', 'Your answer was taken: the call is not made. You can close this page.');

export const refusedNotice = (status: number, detail: string): AnswerNotice =>
  notice(status, 'This cannot be answered so', detail);

function notice(status: number, title: string, detail: string): AnswerNotice {
  const main = html`<h1>${title}</h1>
    <p>${visible(detail)}</p>`;
  return { status, page: pageText({ title, main }) };
}

/** Controls but line ends, and what Unicode calls ignorable or a control of direction. */
const unseen = /(?!\n|\uFE0E|\uFE0F)[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** (P1) */
const visible = (text: string): string =>
  text.replaceAll(unseen, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `[U+${code}]`;
  });

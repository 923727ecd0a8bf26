// The pages of docs/reference that are made from the code, by path.
import { asyncApiDocument } from '@dormouse/adapter-kafka';
import { openApiDocument } from '@dormouse/host';
import { format } from 'prettier';
import { agentsPage } from './reference/agents-page.ts';
import { cliPage } from './reference/cli-page.ts';
import { eventsPage } from './reference/events-page.ts';
import { settingsPage } from './reference/settings-page.ts';

/** A version of its own: a release alone changes nothing here. */
export const openApiText = (): string => `${JSON.stringify(openApiDocument('0.0.0'), null, 2)}\n`;

export const asyncApiText = (): string => `${JSON.stringify(asyncApiDocument('0.0.0'), null, 2)}\n`;

/** As the formatter of the repository leaves it. */
const formatted = (text: string): Promise<string> => format(text, { parser: 'markdown', printWidth: 120 });

export const referencePages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/openapi.json': openApiText,
  'docs/reference/asyncapi.json': asyncApiText,
  'docs/reference/events.md': () => formatted(eventsPage()),
  'docs/reference/agents.md': () => formatted(agentsPage()),
  'docs/reference/settings.md': () => formatted(settingsPage()),
  'docs/reference/cli.md': () => formatted(cliPage()),
};

// A tool that needs a login at another service: the bundled toy provider.
import { z } from 'zod';
import { defineTool, failed, type Tool } from '@dormouse/tool-server';
import type { ToyProvider } from './toy-provider.ts';

export function createCalendar(provider: ToyProvider): Tool {
  return defineTool(
    {
      name: 'connect_calendar',
      description: 'Connects a toy calendar and lists its appointments.',
      input: z.strictObject({}),
      annotations: { readOnly: true },
      oauth: provider.client,
      onRestart: 'rerun_if_asking',
    },
    async (_given, context) => {
      const stored = await context.authorize();
      const known = provider.appointments(stored.accessToken);
      if (known !== null) return listOf(known);
      stored.discard(); // the provider revoked it: ask the user once more
      const fresh = await context.authorize();
      const appointments = provider.appointments(fresh.accessToken);
      return appointments === null ? failed('the calendar does not accept its own login.') : listOf(appointments);
    },
  );
}

const listOf = (appointments: readonly string[]): string =>
  `The calendar is connected. Appointments: ${appointments.join('; ')}.`;

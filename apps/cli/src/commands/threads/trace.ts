// `dormouse trace`: the turns of a thread, what caused what in them, and how long it took or waited.
//
// Invariants:
//   F1. With --follow every step is printed when it begins and again when it ends. Turns are read again after events of
//       theirs, and as long as something of theirs is open.
//   F2. Block characters are for a terminal whose locale is UTF-8; everything else gets ASCII.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiProblem, ask, type Client, everyItem, type Schemas } from '@dormouse/client';
import { type Command, Option } from 'commander';
import type { RunCommand } from '../../command.ts';
import { answer, type CliContext, progress, sayOnce } from '../../context.ts';
import { stepLines, turnLines, waterfall, type WaterfallOptions } from '../../trace/waterfall.ts';

type Turn = Schemas['Turn'];

interface TraceFlags {
  readonly turn?: string;
  readonly follow: boolean;
  readonly lcAll?: string;
  readonly lcCtype?: string;
  readonly lang?: string;
}

export function addTraceCommand(program: Command, run: RunCommand): void {
  program
    .command('trace <thread>')
    .description('its turns as a waterfall: what caused what, when, how long it worked and how long it waited')
    .option('--turn <id>', 'only this turn')
    .option('-f, --follow', 'go on with what comes, until the thread is closed or the turn has ended', false)
    .addOption(new Option('--lc-all <locale>').env('LC_ALL').hideHelp())
    .addOption(new Option('--lc-ctype <locale>').env('LC_CTYPE').hideHelp())
    .addOption(new Option('--lang <locale>').env('LANG').hideHelp())
    .action(run(trace));
}

async function trace(context: CliContext, thread: string, flags: TraceFlags): Promise<void> {
  const client = await context.connect();
  const picture = pictureOf(context, flags);
  const position = flags.follow ? await positionOf(client, thread) : 0;
  const printed = new PrintedTurns(context, picture);
  let count = 0;
  for await (const turn of turnsOf(client, thread, flags.turn)) {
    if (count++ > 0 && !context.json) context.terminal.out('');
    answer(context, waterfall(turn, picture).join('\n'), turn);
    printed.note(turn);
  }
  if (count === 0) progress(context, 'This thread has had no turn yet.');
  if (flags.follow && !isOver(printed, flags.turn))
    await follow(context, client, thread, { position, printed, only: flags.turn });
}

/** (F2) */
function pictureOf({ terminal }: CliContext, { lcAll, lcCtype, lang }: TraceFlags): WaterfallOptions {
  const locale = [lcAll, lcCtype, lang].find((each) => each !== undefined && each !== '') ?? '';
  return { columns: terminal.columns, unicode: terminal.isTerminal === true && /utf-?8/i.test(locale) };
}

async function positionOf({ api }: Client, thread: string): Promise<number> {
  return (await ask(api.GET('/v1/threads/{id}', { params: { path: { id: thread } } }))).position;
}

function turnsOf({ api }: Client, thread: string, turn: string | undefined): AsyncGenerator<Turn, void, undefined> {
  const path = { id: thread };
  return everyItem((cursor) => {
    const after = cursor === undefined ? undefined : Number(cursor);
    const query = turn === undefined ? { after } : { turn };
    return ask(api.GET('/v1/threads/{id}/lineage', { params: { path, query } }));
  });
}

interface Following {
  readonly position: number;
  readonly printed: PrintedTurns;
  readonly only: string | undefined;
}

/** Events of one commit come together: they are waited for before a turn is read again. */
const gatherMs = 100;

const isOver = (printed: PrintedTurns, only: string | undefined): boolean =>
  only !== undefined && printed.isSettled(only);

/** (F1) */
async function follow(
  context: CliContext,
  client: Client,
  thread: string,
  { position, printed, only }: Following,
): Promise<void> {
  const changed = new Set<string>();
  const stop = new AbortController();
  let reading: Promise<void> | null = null;
  let failure: unknown = null;

  async function read(): Promise<void> {
    while (changed.size > 0) {
      await sleep(gatherMs);
      const turns = new Set([...printed.open, ...changed]);
      changed.clear();
      for (const turn of turns) if (only === undefined || turn === only) await show(turn);
    }
    if (isOver(printed, only)) stop.abort();
  }

  async function show(id: string): Promise<void> {
    try {
      for await (const turn of turnsOf(client, thread, id)) printed.print(turn);
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.status !== 404) throw error; // an event before the first turn
    }
  }

  const onReconnect = sayOnce((reason) => progress(context, `connection lost (${reason}), trying again`));
  try {
    for await (const frame of client.follow(thread, { after: position, onReconnect, signal: stop.signal })) {
      if (frame.frame !== 'event') continue;
      changed.add(frame.event.turn_id);
      reading ??= read().then(
        () => void (reading = null),
        (error: unknown) => {
          failure = error;
          stop.abort();
        },
      );
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  await reading;
  if (failure !== null) throw failure;
}

/** What was printed of each turn, so that only news are. */
class PrintedTurns {
  readonly #context: CliContext;
  readonly #picture: WaterfallOptions;
  readonly #steps = new Map<string, ReadonlySet<string>>();
  readonly #texts = new Map<string, string>();
  readonly #open = new Set<string>();
  #last = '';

  constructor(context: CliContext, picture: WaterfallOptions) {
    this.#context = context;
    this.#picture = picture;
  }

  /** Turns of which something is open, the newest of them. */
  get open(): readonly string[] {
    return [...this.#open].slice(-openReadMax);
  }

  /** It is printed, and nothing of it is open. */
  isSettled(turn: string): boolean {
    return this.#steps.has(turn) && !this.#open.has(turn);
  }

  note(turn: Turn): void {
    const { turn_id: id, ended_at: endedAt, steps } = turn;
    this.#steps.set(id, new Set(steps.map(stateOf)));
    this.#texts.set(id, JSON.stringify(turn));
    this.#last = id;
    if (endedAt === null || steps.some((step) => step.ended_at === null)) this.#open.add(id);
    else this.#open.delete(id);
  }

  print(turn: Turn): void {
    const { turn_id: id } = turn;
    const known = this.#steps.get(id);
    const isNews = this.#texts.get(id) !== JSON.stringify(turn);
    const heading = id === this.#last ? [] : ['', ...turnLines(turn, this.#picture)];
    const news = stepLines(turn, this.#picture).flatMap(({ step, lines }) =>
      step === null || known?.has(stateOf(step)) === true ? [] : lines,
    );
    if (this.#context.json && isNews) answer(this.#context, '', turn);
    if (!this.#context.json && (known === undefined || news.length > 0))
      answer(this.#context, [...heading, ...news].join('\n'), turn);
    if (!isNews) return;
    this.note(turn);
  }
}

/** Turns with something open that are read again after each event. */
const openReadMax = 4;

const stateOf = ({ id, ended_at: endedAt }: Turn['steps'][number]): string => `${id} ${endedAt ?? ''}`;

import { Command, InvalidArgumentError, Option } from 'commander';
import type { ActionName } from '../console/action-names.ts';
import type { Detail } from '../console/detail.ts';
import type { LockRow } from '../console/locks.ts';
import type { Overview } from '../console/overview.ts';
import type { ShownQuarantine } from '../console/quarantine.ts';
import { withoutCredentials } from '../console/redact.ts';
import { printable } from '../printable.ts';
import { showDuration } from '../time/show-duration.ts';
import { addressOf, ConsoleClient, ConsoleError, notAllowed, type Session } from './client.ts';
import { MEMBER_COMMANDS, pinnedFor } from './member-commands.ts';
import {
  executionsText,
  historyText,
  isTooStale,
  locksText,
  refusedText,
  stateOfMember,
  statusText,
} from './tables.ts';
import { type Target, targetOf } from './target.ts';

/** The terminal, or what stands for it in tests. */
export interface Terminal {
  print(text: string): void;
  printError(text: string): void;
  /** Asks for a yes. `undefined`: there is no person to ask. */
  readonly confirm: ((question: string) => Promise<boolean>) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** 0: all is well; 1: a value is too stale, or reads fail; 2: the command was not carried out. */
export type ExitCode = 0 | 1 | 2;

interface Common {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly json?: true;
}

/** The options of commands that change something. */
interface Acting extends Common {
  readonly reason?: string;
  readonly yes?: true;
}

interface Locks {
  readonly records: readonly LockRow[];
  readonly errors: readonly string[];
}

/** Carries out a command line. Never rejects. */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = new Command('tickless')
    .description(
      'Shows and controls the members of a running service, by the JSON API of its console. Exit code: 0; 1 when a value is too stale or reads fail (status); 2 when it was refused, not answered, or not confirmed.',
    )
    .showHelpAfterError('(Names with spaces need quotes; --help explains.)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.printError(withoutCredentials(text.trimEnd())), // it repeats options
    });

  function command(name: string, description: string): Command {
    return program
      .command(name)
      .description(description)
      .option('--url <address>', 'address of the console (default: TICKLESS_URL)')
      .option(
        '--header <header>',
        "'name: value', such as a token; may be repeated (default: TICKLESS_HEADER)",
        collect,
      )
      .option('--json', 'the answer of the API as it is');
  }
  function clientOf({ url = terminal.env.TICKLESS_URL, header = [] }: Common): ConsoleClient {
    if (url === undefined)
      throw new ConsoleError(
        'the address of the console is missing: set TICKLESS_URL, or give --url http://localhost:3000/tickless',
      );
    const { TICKLESS_HEADER: own, TICKLESS_URL: home } = terminal.env;
    if (header.length > 0 || own === undefined) return new ConsoleClient({ url, headers: header });
    // It may be a secret, and another address may be that of a stranger.
    if (home === undefined || addressOf(home).origin !== addressOf(url).origin) {
      throw new ConsoleError(
        'TICKLESS_HEADER is sent to the origin of TICKLESS_URL only: give --header for another address',
      );
    }
    return new ConsoleClient({ url, headers: [own] });
  }
  function acting(name: string, description: string): Command {
    return command(name, description)
      .option('--reason <text>', 'for the audit, and for other operators')
      .option('--yes', 'does not ask; needed without a terminal');
  }
  /** Asks first, then carries it out. */
  async function act(
    client: ConsoleClient,
    action: ActionName,
    { question, body }: { readonly question: string; readonly body: object },
    options: Acting,
  ): Promise<void> {
    const session = await client.get<Session>('session');
    if (options.yes !== true) {
      if (!session.actions.includes(action))
        throw notAllowed(`${action} is not allowed: your rights leave it out`, action);
      if (terminal.confirm === undefined)
        throw new ConsoleError(
          `${question}\nWithout a terminal it can't ask, and has changed nothing: add --yes`,
        );
      if (!(await terminal.confirm(question))) throw new ConsoleError('nothing was changed');
    }
    const message = await client.act(action, { ...body, note: options.reason }, session);
    print({ message }, printable(message), options);
  }
  const print = (json: unknown, text: string, options: Common): void =>
    terminal.print(options.json ? terminalJson(json) : text);

  command('status', 'the members on all instances, problems first')
    .option('--all', 'also those without a problem')
    .action(async (options: Common & { all?: true }) => {
      const overview = await clientOf(options).get<Overview>('overview');
      print(overview, statusText(overview, options.all === true), options);
      code = isTooStale(overview) ? 1 : 0;
    });
  command('locks [prefix]', 'the records of locks, of tasks too').action(
    async (prefix: string | undefined, options: Common) => {
      const found = await clientOf(options).get<Locks>('locks', prefix === undefined ? {} : { prefix });
      print(found, locksText(found.records), options);
      for (const error of found.errors) terminal.printError(printable(error));
      if (found.errors.length > 0) code = 2;
    },
  );
  command('history <member>', 'the versions of a value in its store').action(
    async (name: string, options: Common) => {
      const { history, historyError } = (await targetOf(clientOf(options), name)).detail;
      if (historyError !== undefined) throw new ConsoleError(historyError);
      print(history, historyText(history), options);
    },
  );
  command(
    'executions <member> [key]',
    'the last loads or runs, those that failed too, on all instances',
  ).action(async (name: string, key: string | undefined, options: Common) => {
    const { detail } = await targetOf(clientOf(options), name, key);
    print(detail.executions, executionsText(detail), options);
    if (detail.runsError !== undefined) throw new ConsoleError(detail.runsError);
  });
  command('member <member> [key]', 'the state of one, its error in full, and a refused value').action(
    async (name: string, key: string | undefined, options: Common) => {
      const client = clientOf(options);
      const target = await targetOf(client, name, key);
      print(target.detail, await memberText(client, target), options);
    },
  );
  for (const { name, action, description, key, canReachAll, takes, question } of MEMBER_COMMANDS) {
    const made = acting(`${name} <member>${key === 'none' ? '' : ' [key]'}`, description);
    if (canReachAll) made.option('--everywhere', 'on all instances, not only on the one that answers');
    if (takes !== undefined) made.addOption(OPTIONS[takes]());
    made.action(async (member: string, ...rest: readonly unknown[]) => {
      const options = made.opts<Acting & { everywhere?: true; drop?: true; hold?: number; every?: number }>();
      const { everywhere = false, drop = false, hold, every } = options;
      const client = clientOf(options);
      const target = await targetOf(
        client,
        member,
        key === 'none' ? undefined : (rest[0] as string | undefined),
      );
      if (key === 'required' && target.detail.kind === 'cache' && target.detail.key === undefined)
        throw new ConsoleError(`${target.label} is a cache: ${name} needs a key too`);
      const asks = question(target, { everywhere, drop, hold, every });
      if (action === 'accept-quarantined' && !options.json)
        terminal.print(refusedText(target.detail, await refusedValue(client, target)));
      const reach = { ...(everywhere && { everywhere }), ...(drop && { drop }) };
      const body = { ...target.ids, ...reach, holdMs: hold, everyMs: every };
      await act(client, action, { question: asks, body }, options);
    });
  }
  acting('rollback <member>', 'puts an earlier version into place on all instances, and pins it')
    .option('--to <version>', 'one of the history (default: the one before the present one)', whole)
    .addOption(OPTIONS.hold())
    .action(async (name: string, options: Acting & { to?: number; hold?: number }) => {
      const client = clientOf(options);
      const { ids, detail, label } = await targetOf(client, name);
      const { to, hold } = options;
      if (!options.json) terminal.print(historyText(detail.history));
      // The one that is shown: another may be published while it asks.
      const version = to ?? beforePresent(detail.history)?.version;
      const what = version === undefined ? 'the version before the present one' : `version ${version}`;
      const question = `Put ${what} of ${label} into place on all instances, pinned ${pinnedFor(hold)}?`;
      await act(client, 'rollback', { question, body: { ...ids, version, holdMs: hold } }, options);
    });
  acting('release <lock>', 'ends the lease or the hold of a lock')
    .option('--token <token>', 'only if it is still that of this holder (default: the present one)', whole)
    .action(async (name: string, options: Acting & { token?: number }) => {
      const client = clientOf(options);
      const { records } = await client.get<Locks>('locks', { prefix: name });
      // A name that looks like a credential is shown in part.
      const [record, second] = records.filter(
        (one) => one.name === name || one.name === withoutCredentials(name),
      );
      if (second !== undefined)
        throw new ConsoleError(`${printable(name, 200)} could be several locks: release it in the page`);
      if (record === undefined) throw new ConsoleError(`there is no lock ${printable(name, 200)}`);
      if (!options.json) terminal.print(locksText([record]));
      const { id, lock, host, leaseLeft, token } = record;
      const held =
        leaseLeft > 0
          ? `${printable(host)} holds it for another ${showDuration(leaseLeft)}`
          : 'it is not leased';
      const question = `${held}. Release ${printable(name, 200)}?`;
      await act(
        client,
        'release-lock',
        { question, body: { id, lock, token: options.token ?? token } },
        options,
      );
    });

  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof ConsoleError) {
      terminal.printError(
        `tickless: ${error.message
          .split('\n')
          .map((line) => printable(line))
          .join('\n')}`,
      );
      return 2;
    }
    const { exitCode, code: kind } = error as { readonly exitCode?: number; readonly code?: string };
    if (kind?.startsWith('commander.')) return exitCode === 0 ? 0 : 2; // it has printed what is wrong, or the help
    terminal.printError(`tickless: ${printable(error instanceof Error ? error.message : String(error))}`);
    return 2;
  }
}

/** The options of some commands. */
const OPTIONS = {
  drop: () => new Option('--drop', 'forgets the value: the next read waits for a load'),
  hold: () =>
    new Option('--hold <minutes>', 'how long it is pinned (default: until it is unpinned)').argParser(
      minutes,
    ),
  every: () =>
    new Option('--every <minutes>', 'the time between two loads; 0.5 is 30 seconds')
      .argParser(minutes)
      .makeOptionMandatory(),
};

async function memberText(client: ConsoleClient, target: Target): Promise<string> {
  const { detail } = target;
  const state = stateOfMember(target.label, detail);
  if (detail.quarantine === undefined) return state;
  return `${state}\n\n${refusedText(detail, await refusedValue(client, target))}`;
}

/** The refused value beside the one in place; a text: why that is not known. */
async function refusedValue(client: ConsoleClient, { ids }: Target): Promise<ShownQuarantine | string> {
  return client.get<ShownQuarantine>('quarantine', ids).catch((error: Error) => error.message);
}

/** JSON with the characters escaped that a terminal acts on: it escapes itself those below the space only. */
function terminalJson(data: unknown): string {
  return JSON.stringify(data, null, 2).replace(
    /[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The version that the console puts back by default; none of a pinned member. */
function beforePresent(history: Detail['history']): Detail['history'][number] | undefined {
  const [present] = history;
  if (present?.isPinned === true) return undefined;
  const [last, before] = history.filter(({ mark }) => mark === undefined);
  return last === present ? before : last;
}

function collect(header: string, others: readonly string[] = []): readonly string[] {
  return [...others, header];
}

function whole(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('must be a whole number over 0.');
  return number;
}

function minutes(text: string): number {
  const number = Number(text);
  if (!(number > 0 && number <= 525_600))
    throw new InvalidArgumentError('must be minutes from over 0 to 525600.');
  return Math.max(1, Math.round(number * 60_000));
}

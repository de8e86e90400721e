import { Command, Option } from 'commander';
import type { Detail } from '../console/detail.ts';
import type { Overview } from '../console/overview.ts';
import { withoutCredentials } from '../console/redact.ts';
import { printable } from '../printable.ts';
import { ConsoleError, throwUnlessAnswered } from './client.ts';
import { type Acting, CommandLine, type Common, type ExitCode, type Terminal } from './command-line.ts';
import { addLockCommands, MEMBER_COMMANDS, type MemberCommand } from './member-commands.ts';
import { duration, holdOption } from './option-values.ts';
import { executionsText, isUnfit, refusedText, stateOfMember, statusText } from './tables.ts';
import { targetOf } from './target.ts';
import { addVersionCommands } from './version-commands.ts';

/** Carries out a command line. Never rejects. */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const program = new Command('tickless')
    .description(
      'Shows and controls the members of a running service, by the JSON API of its console. Exit code: 0; 1 when a value is too stale or reads fail (status); 2 when it was refused, not answered, or not confirmed.',
    )
    .showHelpAfterError('(Options follow the command, and names with spaces need quotes; --help explains.)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.printError(withoutCredentials(text.trimEnd())), // it repeats options
    });
  const line = new CommandLine(program, terminal);
  addStates(line);
  for (const command of MEMBER_COMMANDS) addMemberCommand(line, command);
  addVersionCommands(line);
  addLockCommands(line);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return line.code;
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

/** Adds the commands that show the state of members. */
function addStates(line: CommandLine): void {
  line
    .command('status', 'the members on all instances, problems first')
    .option('--all', 'also those without a problem')
    .action(async (options: Common & { all?: true }) => {
      const overview = await line.clientOf(options).get<Overview>('overview');
      line.print(overview, statusText(overview, options.all === true), options);
      line.code = isUnfit(overview) ? 1 : 0;
    });
  line
    .command('executions <member> [key]', 'the last loads or runs, those that failed too, on all instances')
    .action(async (name: string, key: string | undefined, options: Common) => {
      const { detail } = await targetOf(line.clientOf(options), name, key);
      line.print(detail.executions, executionsText(detail), options);
      if (detail.runsError !== undefined) throw new ConsoleError(detail.runsError);
    });
  line
    .command('member <member> [key]', 'the state of one, its error in full, and a refused value')
    .action(async (name: string, key: string | undefined, options: Common) => {
      const client = line.clientOf(options);
      const target = await targetOf(client, name, key);
      const { detail, label } = target;
      const state = stateOfMember(label, detail, target.problems);
      const text = detail.refused === undefined ? state : `${state}\n\n${refusedText(detail)}`;
      line.print(detail, text, options);
    });
}

/** Adds a command that does something to a member, or to a key of a cache. */
function addMemberCommand(line: CommandLine, command: MemberCommand): void {
  const { name, action, description, key, reachesAll, takes, question } = command;
  const made = line.acting(`${name} <member>${key === 'none' ? '' : ' [key]'}`, description);
  if (reachesAll) made.option('--here', 'only on the instance that answers, not on all');
  if (takes !== undefined) made.addOption(OPTIONS[takes]());
  made.action(async (member: string, ...rest: readonly unknown[]) => {
    const options = made.opts<
      Acting & { here?: true; drop?: true; force?: true; hold?: number; every?: number }
    >();
    const { here = false, drop = false, force = false, hold, every } = options;
    const client = line.clientOf(options);
    const typed = key === 'none' ? undefined : (rest[0] as string | undefined);
    const target = await targetOf(client, member, typed);
    if (key === 'required' && target.detail.kind === 'cache' && target.detail.key === undefined)
      throw new ConsoleError(`${target.label} is a cache: ${name} needs a key too`);
    const asks = question(target, { here, drop, force, hold, every });
    if (force && !options.json) line.terminal.print(refusedText(target.detail));
    const reach = { ...(here && { here }), ...(drop && { drop }) };
    const seen = {
      ...seenOf(command, target.detail),
      ...(force && { digest: target.detail.refused?.digest }),
    };
    const body = { ...target.ids, ...reach, ...seen, holdMs: hold, everyMs: every };
    await line.act(client, action, { question: asks, body }, options);
  });
}

const OPTIONS = {
  drop: () => new Option('--drop', 'forgets the value: the next read waits for a load'),
  force: () =>
    new Option(
      '--force',
      'loads the refused value past the guard, if the source still has the one that is shown',
    ),
  hold: holdOption,
  every: () =>
    new Option('--every <duration>', 'the time between two loads, such as 30s')
      .argParser(duration)
      .makeOptionMandatory(),
};

/** The part of a body that names what was shown, for the action that is based on it. @throws {ConsoleError} where it could not be shown. */
function seenOf({ names }: MemberCommand, { here, history: [present], historyError }: Detail): object {
  switch (names) {
    case 'present':
      throwUnlessAnswered(historyError);
      return { present: present?.version };
    case 'running':
      return { since: here.runningSince };
    case 'in-place':
      return { since: here.loadedAt };
    default:
      return {};
  }
}

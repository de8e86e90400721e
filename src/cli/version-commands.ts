import type { Detail } from '../console/detail.ts';
import { ConsoleError, throwUnlessAnswered } from './client.ts';
import type { Acting, CommandLine, Common } from './command-line.ts';
import { pinnedFor } from './member-commands.ts';
import { holdOption, whole } from './option-values.ts';
import { historyText } from './tables.ts';
import { targetOf } from './target.ts';

/** Adds the commands that are about the versions in a store. */
export function addVersionCommands(line: CommandLine): void {
  line
    .command('history <member>', 'the versions of a value in its backend')
    .action(async (name: string, options: Common) => {
      const { history, historyError } = (await targetOf(line.clientOf(options), name)).detail;
      if (historyError !== undefined) throw new ConsoleError(historyError);
      line.print(history, historyText(history), options);
    });
  line
    .acting('rollback <member>', 'puts an earlier version into place on all instances, and pins it')
    .option('--to <version>', 'one of the history (default: the one before the present one)', whole)
    .addOption(holdOption())
    .action(async (name: string, options: Acting & { to?: number; hold?: number }) => {
      const client = line.clientOf(options);
      const { ids, detail, label } = await targetOf(client, name);
      const { to, hold } = options;
      throwUnlessAnswered(detail.historyError);
      if (!options.json) line.terminal.print(historyText(detail.history));
      const [present] = detail.history;
      if (present?.isPinned && to === undefined)
        throw new ConsoleError('a version is pinned: name the one to put into place with --to');
      // The one that is shown: another may be published while it asks.
      const version = to ?? beforePresent(detail.history)?.version;
      const what = version === undefined ? 'the version before the present one' : `version ${version}`;
      const question = `Put ${what} of ${label} into place on all instances, pinned ${pinnedFor(hold)}?`;
      await line.act(
        client,
        'rollback',
        { question, body: { ...ids, version, present: present?.version, holdMs: hold } },
        options,
      );
    });
}

/** The version that the console puts back by default. */
function beforePresent(history: Detail['history']): Detail['history'][number] | undefined {
  const [present] = history;
  const [last, before] = history.filter(({ mark }) => mark === undefined);
  return last === present ? before : last;
}

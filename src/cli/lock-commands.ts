import type { LockRow } from '../console/locks.ts';
import { withoutCredentials } from '../console/redact.ts';
import { printable } from '../printable.ts';
import { showDuration } from '../time/show-duration.ts';
import { ConsoleError, throwUnlessAnswered } from './client.ts';
import type { Acting, CommandLine, Common } from './command-line.ts';
import { whole } from './option-values.ts';
import { locksText } from './tables.ts';

interface Locks {
  readonly records: readonly LockRow[];
  readonly errors: readonly string[];
}

/** Adds the commands that are about records of locks. */
export function addLockCommands(line: CommandLine): void {
  line
    .command('locks [prefix]', 'the records of locks, of tasks too')
    .action(async (prefix: string | undefined, options: Common) => {
      const found = await line.clientOf(options).get<Locks>('locks', prefix === undefined ? {} : { prefix });
      for (const error of found.errors) line.terminal.printError(printable(error));
      const shown = found.records.filter(({ isInternal }) => prefix !== undefined || !isInternal);
      // Without an answer it is not known whether there are records.
      if (options.json || shown.length > 0 || found.errors.length === 0)
        line.print(found, locksText(shown), options);
      if (found.errors.length > 0) line.code = 2;
    });
  line
    .acting('release <lock>', 'ends the lease or the hold of a lock')
    .option('--token <token>', 'only if it is still that of this holder (default: the present one)', whole)
    .action(async (name: string, options: Acting & { token?: number }) => {
      const client = line.clientOf(options);
      const { records, errors } = await client.get<Locks>('locks', { prefix: name });
      const shown = printable(name, 200);
      // A name that looks like a credential is shown in part.
      const [record, second] = records.filter(
        (one) => one.name === name || one.name === withoutCredentials(name),
      );
      if (second !== undefined)
        throw new ConsoleError(`${shown} could be several locks: release it in the page`);
      if (record === undefined) throwUnlessAnswered(errors[0]);
      if (record === undefined) throw new ConsoleError(`there is no lock ${shown}`);
      if (!options.json) line.terminal.print(locksText([record]));
      const { id, lock, host, leaseLeft } = record;
      const held =
        leaseLeft > 0
          ? `${printable(host)} holds it for another ${showDuration(leaseLeft)}`
          : 'it is not leased';
      const { token = record.token } = options;
      const asked = { question: `${held}. Release ${shown}?`, body: { id, lock, token } };
      await line.act(client, 'release-lock', asked, options);
    });
}

import type { ActionName } from '../console/action-names.ts';
import type { LockRow } from '../console/locks.ts';
import { withoutCredentials } from '../console/redact.ts';
import { printable } from '../printable.ts';
import { showDuration } from '../time/show-duration.ts';
import { ConsoleError, throwUnlessAnswered } from './client.ts';
import type { Acting, CommandLine, Common } from './command-line.ts';
import { whole } from './option-values.ts';
import { locksText } from './tables.ts';
import type { Target } from './target.ts';

/** How far a command reaches. */
interface Reach {
  /** The instance that answers only. */
  readonly here: boolean;
  /** Of `invalidate`: the value is forgotten too. */
  readonly drop: boolean;
  /** Of `refresh`: the refused value passes the guard. */
  readonly force: boolean;
  /** Of `pin`, in milliseconds; `undefined`: until it is unpinned. */
  readonly hold: number | undefined;
  /** Of `reschedule`, in milliseconds. */
  readonly every: number | undefined;
}

/** A command that does something to a member, or to a key of a cache. */
export interface MemberCommand {
  readonly name: string;
  readonly action: ActionName;
  readonly description: string;
  /** It takes a key of a cache: none, one, or for a cache always one. */
  readonly key: 'none' | 'optional' | 'required';
  /** It reaches all instances, and takes `--here`. */
  readonly reachesAll: boolean;
  /** It takes this option besides. */
  readonly takes?: 'drop' | 'force' | 'hold' | 'every';
  /** It names this of what was shown: it is refused when that is not in place any more. */
  readonly names?: 'present' | 'running' | 'in-place';
  /**
   * The effect, as a question.
   *
   * @throws {ConsoleError} when it can't be done.
   */
  question(target: Target, reach: Reach): string;
}

export const MEMBER_COMMANDS: readonly MemberCommand[] = [
  {
    name: 'refresh',
    action: 'refresh',
    description: 'loads now, due or not; runs the task of an executor',
    key: 'required',
    reachesAll: true,
    takes: 'force',
    question: (target, { here, force }) => {
      if (force) throwUnlessRefused(target);
      const past = force ? ' past the guard' : '';
      if (target.detail.kind === 'executor') return `Run ${target.label} now ${onHere(target)}?`;
      return isForAll(target, here)
        ? `Load ${target.label} now${past} on ${answering(target)}, for ${all(target)}? The others take the result over.`
        : `Load ${target.label} now${past} ${onHere(target)}?`;
    },
  },
  {
    name: 'invalidate',
    action: 'invalidate',
    names: 'in-place',
    description: 'marks the value as due: the next read loads it. Of a cache without a key: all its keys',
    key: 'optional',
    reachesAll: true,
    takes: 'drop',
    question: (target, { here, drop }) => {
      const { detail, label } = target;
      const isCache = detail.kind === 'cache' && detail.key === undefined;
      const what = isCache ? `all keys of ${label} (${detail.here.size ?? 0} here)` : label;
      return drop
        ? `Forget ${what} ${on(target, here)}? The next reads wait for a load.`
        : `Mark ${what} as due ${on(target, here)}? The next read starts a load, and is served the value in place.`;
    },
  },
  {
    name: 'cancel',
    action: 'cancel',
    names: 'running',
    description: 'aborts the load under way on the instance that answers',
    key: 'required',
    reachesAll: false,
    question: (target) => `Abort the load of ${target.label} ${onHere(target)}? It counts as failed.`,
  },
  {
    name: 'pause',
    action: 'pause',
    description: 'reads start no loads until it is resumed',
    key: 'none',
    reachesAll: true,
    question: (target, { here }) => {
      const { maxStaleness } = target.detail.here;
      const limit =
        maxStaleness === undefined ? '' : `, up to its maxStaleness of ${showDuration(maxStaleness)}`;
      const reads =
        target.detail.kind === 'executor'
          ? ''
          : ` Reads are served the value in place${limit}, and start no loads.`;
      return `Pause ${target.label} ${on(target, here)}?${reads}`;
    },
  },
  {
    name: 'resume',
    action: 'resume',
    description: 'ends a pause',
    key: 'none',
    reachesAll: true,
    question: (target, { here }) =>
      `Resume ${target.label} ${on(target, here)}? The next read loads it if it is due.`,
  },
  {
    name: 'reschedule',
    action: 'reschedule',
    description: 'loads it at fixed intervals from now on',
    key: 'none',
    reachesAll: false,
    takes: 'every',
    question: (target, { every = 0 }) =>
      `Load ${target.label} every ${showDuration(every)} from now on, ${onHere(target)}?`,
  },
  {
    name: 'pin',
    action: 'pin',
    names: 'present',
    description: 'keeps the present version on all instances: loads do not replace it',
    key: 'none',
    reachesAll: false,
    takes: 'hold',
    question: (target, { hold }) =>
      `Keep the present version of ${target.label} on ${all(target)}, pinned ${pinnedFor(hold)}?`,
  },
  {
    name: 'unpin',
    action: 'unpin',
    names: 'present',
    description: 'ends a pin: loads replace the version again',
    key: 'none',
    reachesAll: false,
    question: (target) => {
      const { pinned } = target.detail.here;
      const by =
        pinned === undefined
          ? ''
          : ` (pinned by ${printable(pinned.by, 80)}${pinned.note ? `: ${printable(pinned.note)}` : ''})`;
      return `Unpin ${target.label}${by} on ${all(target)}? The next read loads it.`;
    },
  },
];

/** How long a pin lasts. */
export function pinnedFor(holdMs: number | undefined): string {
  return holdMs === undefined ? 'until it is unpinned' : `for ${showDuration(holdMs)}`;
}

/** @throws {ConsoleError} where the instance that answers has refused no value, or none that may pass: it says where there is one. */
function throwUnlessRefused(target: Target): void {
  const { detail, label, refusedOn } = target;
  if (detail.refused?.digest !== undefined) return;
  if (detail.refused !== undefined)
    throw new ConsoleError(`no guard is to be passed: ${printable(detail.refused.reason)}`);
  const elsewhere =
    refusedOn.length === 0
      ? ''
      : `\nOne was refused on ${refusedOn.slice(0, 3).join(', ')}: set TICKLESS_URL to that instance, or try again if another one answers then`;
  throw new ConsoleError(`no value of ${label} was refused on ${answering(target)}${elsewhere}`);
}

/** Of a command that takes `--here`. */
function on(target: Target, here: boolean): string {
  return isForAll(target, here) ? `on ${all(target)}` : onHere(target);
}

function isForAll({ detail: { backends } }: Target, here: boolean): boolean {
  return !here && backends.lock && backends.store;
}

function onHere(target: Target): string {
  const { instances } = target;
  if (instances === undefined) return `on ${answering(target)}`;
  const others = instances > 1 ? `only, one of ${instances} instances` : 'the only instance that has it';
  return `on ${answering(target)}${instances > 1 ? ' ' : ', '}${others}`;
}

function all({ instances }: Target): string {
  if (instances === undefined) return 'all instances';
  return instances === 1 ? 'the only instance that has it' : `all ${instances} instances`;
}

function answering({ here }: Target): string {
  return here ?? 'the instance that answers';
}

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

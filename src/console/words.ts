import type { ShownExecution } from './detail.ts';
import type { HereStatus, InstanceColumn, Level } from './rows.ts';
import type { ShownDifference } from './shown-value.ts';

// The words of the page and of the terminal, the same in both.

/** The levels of the API in words. */
const LEVEL_TEXTS: { readonly [level in Level]: string } = {
  bad: 'reads fail',
  warn: 'loads fail',
  backup: 'by a backup',
  unshared: 'loads are not shared',
  note: 'notices',
  ok: 'fine',
};

/** A count of members before the words of a level: `1 load fails`. */
export function levelText(level: string, count: number): string {
  const text = (LEVEL_TEXTS as Readonly<Record<string, string>>)[level] ?? level;
  return count === 1
    ? text.replace(/^(read|load|notice)s( (?:fail|are))?/, (_, noun, verb) => noun + singular(verb))
    : text;
}

function singular(verb: string | undefined): string {
  return verb === undefined ? '' : verb === ' are' ? ' is' : `${verb}s`;
}

/** Such as `1 member`, `2,000 members`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** A count with its thousands apart: `100,000`. */
export function grouped(count: number): string {
  return count.toLocaleString('en');
}

/** Such as `3 instances, 1 of them idle`. */
export function instancesText(instances: readonly Pick<InstanceColumn, 'isIdle'>[]): string {
  const idle = instances.filter(({ isIdle }) => isIdle).length;
  return `${counted(instances.length, 'instance')}${idle > 0 ? `, ${grouped(idle)} of them idle or gone` : ''}`;
}

/** The state of a member or a key by the name that the API has for it, and what else there is to know of it now. */
export function stateText({ here }: { readonly here: HereStatus }): string {
  const { running, loading = 0, closed, paused, pinned, failures = 0, backups = 0, state, size = 0 } = here;
  const isCache = state === 'keys';
  const named = isCache ? counted(size, 'key') : wordOf(here);
  const more = [
    running && named !== LOADING && LOADING,
    loading > 0 && `${grouped(loading)} loading`,
    failures > 0 && (isCache ? `${grouped(failures)} failing` : counted(failures, 'failure')),
    backups > 0 && `${isCache ? `${grouped(backups)} ` : ''}by a backup`,
    pinned && 'pinned',
    paused && 'paused',
    closed && 'closed',
  ];
  return [named, ...more.filter(Boolean)].join(', ');
}

function wordOf(here: HereStatus): string {
  const { state, loadedAt } = here;
  if (state === 'empty') return emptyText(here);
  return state === 'done' && loadedAt === undefined ? 'not run yet' : state;
}

/** The state `empty` in words: before the first read nothing is wrong. */
export function emptyText({ running, failures, refusesReads }: HereStatus): string {
  if (failures !== undefined || refusesReads) return 'no value';
  return running ? LOADING : 'not read yet';
}

const LOADING = 'loading';

/** The numbers of changes between two values: `1 added, 0 removed, 2 changed, 1,200 unchanged`. */
export function countsText({ added, removed, changed, unchanged }: ShownDifference): string {
  return `${grouped(added)} added, ${grouped(removed)} removed, ${grouped(changed)} changed, ${grouped(unchanged)} unchanged`;
}

/** How an execution ended, and after how many tries: `failed, 3 tries`. */
export function executionText(execution: ShownExecution): string {
  const { outcome, attempts = 1 } = execution;
  if (attempts > 1) return `${outcome}, ${grouped(attempts)} tries`;
  return attempts === 0 && hasFailed(execution) ? `${outcome} before it began` : outcome;
}

export function hasFailed({ outcome }: ShownExecution): boolean {
  return outcome === 'failed' || outcome === 'refused' || outcome === 'timed-out';
}

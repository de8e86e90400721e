import type { CloseReport, CutOff } from '../data/close-report.ts';
import { showKey, showName } from '../errors.ts';
import { showDuration } from '../time/show-duration.ts';

/** At most this number is named in the line. */
const MOST_NAMED = 3;

/**
 * The line of a `close()` that has cut something off; `undefined`: it has not.
 *
 * @param of what it has aborted.
 */
export function cutOffLine(
  { drained, aborted, leases }: CloseReport,
  timeoutMs: number,
  of: 'load' | 'run' = 'load',
): string | undefined {
  if (drained) return undefined;
  const texts = [
    ...(aborted.length === 0 ? [] : [`aborted ${counted(aborted, of)}`]),
    ...(leases.length === 0 ? [] : [`left ${counted(leases, 'lease')} to expire`]),
  ];
  return `closed after ${showDuration(timeoutMs)}: ${texts.join(', ')}`;
}

/** `2 loads (rates, cities["NL"])` */
function counted(all: readonly CutOff[], what: string): string {
  const named = all.slice(0, MOST_NAMED).map(({ name, key }) => {
    return key === undefined ? showName(name) : `${showName(name)}[${showKey(key)}]`;
  });
  const more = all.length > MOST_NAMED ? ', …' : '';
  return `${all.length} ${what}${all.length === 1 ? '' : 's'} (${named.join(', ')}${more})`;
}

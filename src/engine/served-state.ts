import { showKey } from '../errors.ts';
import type { ServedState } from '../observe/outage-log.ts';
import { showDuration } from '../time/show-duration.ts';
import { type DecisionRules, isRefusedAsFailing, mayServe } from './decide.ts';
import type { Entry } from './entry.ts';

/** For people: whether reads of the entry are served now, the age of the value, and its limit. */
export function servedState(
  entry: Entry<unknown>,
  rules: DecisionRules,
  isTask: boolean,
  now: number,
): ServedState {
  const { key, isLoaded, maxStalenessMs, flight } = entry;
  const limit =
    maxStalenessMs < Infinity ? `maxStaleness is ${showDuration(maxStalenessMs)}` : 'without maxStaleness';
  const parts = [
    isTask
      ? lastSuccess(entry, now)
      : `${valueText(entry, now)}${key === undefined ? '' : ` (${showKey(key)})`}`,
    ...(isLoaded ? [limit] : []),
    ...(isLoaded && isRefusedAsFailing(entry, rules) ? ['whenFailing is throw'] : []),
    ...(rules.runState === 'open' ? [] : [`it is ${rules.runState}`]),
    ...(flight === undefined ? [] : [`a load is under way for ${showDuration(now - flight.startedAt)}`]),
  ];
  return { isServed: mayServe(entry, rules, now), text: parts.join(', ') };
}

function valueText({ isLoaded, loadedAt }: Entry<unknown>, now: number): string {
  if (!isLoaded) return 'there is no value';
  return `the value is ${showDuration(now - loadedAt)} old`;
}

function lastSuccess({ isLoaded, loadedAt }: Entry<unknown>, now: number): string {
  if (!isLoaded || loadedAt === -Infinity) return 'no success is known here';
  return `the last success was ${showDuration(now - loadedAt)} ago`;
}

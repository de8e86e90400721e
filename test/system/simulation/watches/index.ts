import { KEYS } from '../instance.ts';
import type { Subject, Watch } from '../subject.ts';
import type { World } from '../world.ts';
import { Calls } from './calls.ts';
import { CoolDowns } from './cool-downs.ts';
import { DueTimes } from './due-times.ts';
import { LoadOutcomes } from './load-outcomes.ts';
import { OneExecution } from './one-execution.ts';
import { Replacements } from './replacements.ts';
import { Results } from './results.ts';
import { Starts, startsAreKnown } from './starts.ts';
import { Values } from './values.ts';

/** The watches of a subject. */
export function watchesOf(subject: Subject, world: World): Watch[] {
  const { holdsValue, lockName } = subject.options;
  const isKeyed = subject.id.includes('[');
  const isTicking = !subject.id.endsWith('nightly');
  // A cache remembers the failures of a limited number of keys.
  const isRemembered = isTicking && (!isKeyed || world.scenario.maxKeys === KEYS.length);
  return [
    ...(isTicking ? [new OneExecution(subject, world)] : []),
    ...(isRemembered ? [new CoolDowns(subject, world)] : []),
    ...(isTicking
      ? [new LoadOutcomes(subject, world), new Calls(subject, world), new Results(subject, world)]
      : []),
    ...(isTicking && startsAreKnown(subject, world) ? [new Starts(subject, world)] : []),
    ...(isTicking ? [] : [world.nightly]),
    ...(holdsValue ? [new Values(subject, world), new Replacements(subject, world)] : []),
    ...(lockName === undefined && !isKeyed ? [new DueTimes(subject, world)] : []),
  ];
}

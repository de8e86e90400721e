import type { KeyMark, KeysMark } from '../data/mark.ts';
import type { Entry } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { closedError } from '../engine/read-errors.ts';
import { isAbsentError } from '../errors.ts';
import { OptionChecks } from '../option-checks.ts';
import { rejected } from '../time/deferred.ts';
import { type EverywhereOptions, everywhereArgument } from '../value/everywhere.ts';

/**
 * Checks the options of a method for many keys, which all instances learn of by checks only.
 *
 * @returns whether it is to be done for all instances.
 * @throws {OptionError} as `everywhereArgument`, and without `propagateWithin`.
 */
export function marksArgument<V>(engine: MemberEngine<V>, options: EverywhereOptions | undefined): boolean {
  const isHeard = engine.coordinator?.hasMarks === true;
  return argument(engine, options, isHeard, 'must not be given without propagateWithin');
}

/**
 * Checks the options of a method for one key, of which other instances learn by a mark where they look for marks.
 *
 * @returns whether it is to be done for all instances.
 * @throws {OptionError} as `everywhereArgument`, and with `propagateWithin` without a lock.
 */
export function keyArgument<V>(engine: MemberEngine<V>, options: EverywhereOptions | undefined): boolean {
  const { coordinator, options: member } = engine;
  const canMark = coordinator?.hasMarks !== true || member.membership?.hasLock === true;
  return argument(engine, options, canMark, 'must not be given without a lock');
}

function argument<V>(
  { options: member }: MemberEngine<V>,
  options: EverywhereOptions | undefined,
  isPossible: boolean,
  rule: string,
): boolean {
  const isForAll = everywhereArgument(member, options);
  const checks = new OptionChecks(member.name);
  checks.that(!isForAll || isPossible, 'everywhere', rule, isForAll);
  checks.done();
  return isForAll;
}

/** Publishes a mark on keys, which was applied here, if that is asked for. */
export function markIf<V>(isAskedFor: boolean, engine: MemberEngine<V>, mark: KeysMark): Promise<void> {
  if (isAskedFor && engine.runState === 'closed') return rejected(closedError(engine.options.name));
  const published = isAskedFor ? engine.coordinator?.markKeys(mark) : undefined;
  return published === undefined ? Promise.resolve() : engine.untilClosed(published);
}

/** Lets the other instances know of the change of a key, once it is published. */
export function thenMarked<V, R>(
  engine: MemberEngine<V>,
  entry: Entry<V>,
  published: Promise<R>,
  mark: KeyMark['mark'],
): Promise<R> {
  const marked = published.then(
    async (result) => {
      await engine.coordinator?.markKey(entry, mark);
      return result;
    },
    async (error) => {
      if (isAbsentError(error)) {
        await entry.cluster?.published; // the others are to know that the key is gone
        await engine.coordinator?.markKey(entry, mark);
      }
      throw error;
    },
  );
  return engine.untilClosed(marked);
}

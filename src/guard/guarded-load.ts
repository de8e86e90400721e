import { countOf } from '../data/count-of.ts';
import type { ValueMeta } from '../data/value-meta.ts';
import type { LoadContext } from '../engine/load-context.ts';
import type { Load } from '../engine/load-execution.ts';
import { candidateOf, type KeyedLoadReturn, withCandidate } from '../engine/load-result.ts';
import { callOwned } from '../engine/own-load.ts';
import type { Quarantined } from '../engine/quarantined.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';

import { messageOf } from '../observe/logger.ts';
import { ignoreThenable, isThenable } from '../time/deferred.ts';
import { whileWaiting } from '../time/waited-for.ts';
import type { Accept } from './accept.ts';
import { Quarantine } from './quarantine.ts';
import { type RefusedValue, refusedError } from './refused-error.ts';
import { ownSizeOf } from './size.ts';
import { withDeepEqual } from './unchanged.ts';
import { rethrow, settled, validated } from './validated.ts';
import { refusalOf } from './verdict.ts';

/** The options of a member with the guard of its values. */
interface GuardedOptions extends ResolvedOptions {
  readonly accept: Accept<never> | undefined;
  readonly maxQuarantined: number;
  /** They are compared by deep equality. */
  readonly isDeep: boolean;
}

/**
 * A load whose values are checked before they replace anything: by the schema, whose output is the value, then by the
 * guard. A refused value is a `REFUSED` error, and goes into quarantine. The checks are part of the load: they run
 * within its deadline and its lease, and a synchronous load with synchronous checks stays synchronous.
 */
export function guardedLoad<T>(own: Load<T>, options: GuardedOptions): Load<T> {
  const load = options.isDeep ? withDeepEqual(own, options.logger) : own;
  const { schema, accept, idOf, maxQuarantined, name: member } = options;
  if (schema === undefined && accept === undefined) return load;
  const quarantine = new Quarantine<T>(maxQuarantined);

  return (context, entry, abort) => {
    const { key } = entry;

    const check = (returned: KeyedLoadReturn<T>): ReturnType<Load<T>> => {
      const candidate = candidateOf(returned);
      if (candidate === undefined) return returned;
      const judge = (value: T): ReturnType<Load<T>> => {
        const result = withCandidate(returned, value);
        if (accept === undefined) return result;
        const stored = context.previous ?? entry.cluster?.previous();
        const { tags } = candidate;
        const rated = (previous: LoadContext['previous']): ReturnType<Load<T>> =>
          ask({ value, tags, idOf }, previous, result, candidate.meta);
        return settled(() => stored as LoadContext['previous'], rated, rethrow);
      };
      return settled(
        () =>
          named(
            context,
            'the schema',
            callOwned([entry], () =>
              validated<T>(candidate.value, options, (refusal) => refuse(refusal, undefined)),
            ),
          ),
        judge,
        rethrow,
      );
    };

    const ask = (
      candidate: NonNullable<Quarantined<T>['candidate']>,
      previous: LoadContext['previous'],
      result: KeyedLoadReturn<T>,
      meta: ValueMeta | undefined,
    ): ReturnType<Load<T>> => {
      const { trigger, token: version } = context;
      const reject = (reason: string, cause?: unknown): never => {
        const size = sizeOf(candidate.value);
        const previousSize = previous && sizeOf(previous.value);
        return refuse({ reason, size, previousSize, cause }, candidate);
      };
      return settled(
        () =>
          named(
            context,
            'accept',
            callOwned([entry], () =>
              (accept as Accept)(candidate.value, { previous, version, trigger, key, meta }),
            ),
          ),
        (verdict) => (verdict === true ? result : reject(...refusalOf(verdict))),
        (error) => reject(messageOf(error), error),
      );
    };

    const refuse = (refusal: RefusedValue, candidate: Quarantined<T>['candidate']): never => {
      if (!abort.isAborted) quarantine.keep(entry, refusal, candidate, options.now());
      throw refusedError(refusal, { member, key });
    };

    const sizeOf = (value: unknown): number | undefined => {
      try {
        return ignoreThenable((ownSizeOf(accept as Accept) ?? countOf)(value));
      } catch {
        return undefined; // of a value that is refused: it may be anything
      }
    };

    return settled(() => load(context, entry, abort), check, rethrow);
  };
}

/** A step of the load: a time-out names it. */
function named<R>({ signal }: LoadContext, name: string, result: R | PromiseLike<R>): R | PromiseLike<R> {
  if (!isThenable(result)) return result;
  return whileWaiting(
    signal,
    () => name,
    () => result,
  );
}

import { digestSteps } from '../data/content-digest.ts';
import { countOf } from '../data/count-of.ts';
import type { Difference } from '../data/difference.ts';
import { areDeepEqual, importDeepEqual } from '../data/late-deep-equal.ts';
import { lateImport } from '../data/late-import.ts';
import type { ValueMeta } from '../data/value-meta.ts';
import { deadlineOf, type Entry } from '../engine/entry.ts';
import type { Load } from '../engine/flight.ts';
import type { LoadContext } from '../engine/load-context.ts';
import { candidateOf, type KeyedLoadReturn, withCandidate } from '../engine/load-result.ts';
import { callOwned } from '../engine/own-load.ts';
import { NOT_SEEN, type Refused, withoutDifferences } from '../engine/refused.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { messageOf, type SafeLogger } from '../observe/logger.ts';
import { optionError } from '../option-error.ts';
import { printable } from '../printable.ts';
import { schemaRefusal } from '../schema.ts';
import type { Clock } from '../time/clock.ts';
import { ignoreRejection, ignoreThenable, isThenable } from '../time/deferred.ts';
import { whileWaiting } from '../time/waited-for.ts';
import { yieldToEventLoop } from '../time/yield-to-event-loop.ts';
import type { Accept } from './accept.ts';
import { type RefusedValue, refusedError } from './refused-error.ts';
import { ownSizeOf } from './size.ts';
import { refusalOf } from './verdict.ts';

/** The options of a member with the guard of its values. */
interface GuardedOptions extends ResolvedOptions {
  readonly accept: Accept<never> | undefined;
  /** They are compared by deep equality. */
  readonly isDeep: boolean;
}

/** The differences of this many keys of a cache are kept: the samples are parts of values. */
const MOST_COMPARED = 100;

/**
 * A load whose values are checked before they replace anything: by the schema, whose output is the value, then by the
 * guard. A refused value is a `REFUSED` error, and the entry remembers why it was refused. The checks are part of the load: they run
 * within its deadline and its lease, and a synchronous load with synchronous checks stays synchronous, unless it is refused: then it ends
 * when the value has been compared with the one before.
 */
export function guardedLoad<T>(own: Load<T>, options: GuardedOptions): Load<T> {
  const load = options.isDeep ? withDeepEqual(own, options.logger) : own;
  const { schema, accept, name: member } = options;
  if (schema === undefined && accept === undefined) return load;
  /** The entries with differences, the oldest first. */
  const compared = new Set<Entry<T>>();

  return (context, entry, abort) => {
    const { key, forced } = entry;

    const check = (returned: KeyedLoadReturn<T>): ReturnType<Load<T>> => {
      const candidate = candidateOf(returned);
      if (candidate === undefined) return returned;
      const judge = (value: T): ReturnType<Load<T>> => {
        const result = withCandidate(returned, value);
        if (accept === undefined) return result;
        const stored = context.previous ?? entry.cluster?.previous();
        const rated = (previous: LoadContext['previous']): ReturnType<Load<T>> =>
          ask(value, previous, result, candidate.meta);
        return settled(() => stored as LoadContext['previous'], rated, rethrow);
      };
      return settled(
        () =>
          named(
            context,
            'the schema',
            callOwned([entry], () =>
              validated<T>(candidate.value, options, (refusal) => refuse(refusal, { digest: undefined })),
            ),
          ),
        judge,
        rethrow,
      );
    };

    const ask = (
      value: T,
      previous: LoadContext['previous'],
      result: KeyedLoadReturn<T>,
      meta: ValueMeta | undefined,
    ): ReturnType<Load<T>> => {
      const { trigger, token: version } = context;
      const reject = (reason: string, cause?: unknown): ReturnType<Load<T>> => {
        const size = sizeOf(value);
        const previousSize = previous && sizeOf(previous.value);
        const compare = () =>
          named(
            context,
            'the comparison with the value before',
            summaryOf(value, previous, deadlineOf(entry), options),
          );
        const end = (summary: Pick<Refused, 'digest' | 'differences'>): never =>
          refuse({ reason, size, previousSize, cause }, summary);
        return settled(compare, end, rethrow);
      };
      if (forced !== undefined) {
        const pass = (digest: string): ReturnType<Load<T>> => {
          if (digest !== forced.digest) return reject(NOT_SEEN);
          forced.isPassed = true;
          return result;
        };
        return settled(() => named(context, 'its digest', digestOf(value, options.clock)), pass, rethrow);
      }
      return settled(
        () =>
          named(
            context,
            'accept',
            callOwned([entry], () => (accept as Accept)(value, { previous, version, trigger, key, meta })),
          ),
        (verdict) => (verdict === true ? result : reject(...refusalOf(verdict))),
        (error) => reject(messageOf(error), error),
      );
    };

    const refuse = (refusal: RefusedValue, summary: Pick<Refused, 'digest' | 'differences'>): never => {
      const error = refusedError(refusal, { member, key });
      if (abort.isAborted) throw error;
      const { reason, size, previousSize } = refusal;
      const { since = options.now() } = entry.refused ?? {};
      entry.refused = { reason: printable(reason), since, size, previousSize, ...summary };
      compared.delete(entry);
      if (summary.differences !== undefined) compared.add(entry);
      const [oldest] = compared;
      if (compared.size <= MOST_COMPARED || oldest === undefined) throw error;
      compared.delete(oldest);
      oldest.refused = oldest.refused && withoutDifferences(oldest.refused);
      throw error;
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

/**
 * Checks a value that is set by hand. @returns the output of the schema.
 *
 * @throws {TicklessError} `REFUSED` when the schema refuses it. @throws {TicklessError} `OPTION` when the schema is asynchronous, or makes
 *   `undefined` of it.
 */
export function schemaArgument<T>(options: ResolvedOptions, key: unknown, value: T): T {
  const { name: member, schema } = options;
  const output = validated<T>(value, options, (refusal) => {
    throw refusedError(refusal, { member, key });
  });
  if (schema === undefined) return output as T;
  if (isThenable(output)) {
    ignoreRejection(Promise.resolve(output));
    const rule = 'must be synchronous for a value that is set by hand';
    throw optionError([{ option: 'schema', rule, received: schema }], { member, key });
  }
  if (output !== undefined) return output as T;
  const rule = 'must not become undefined by the schema';
  throw optionError([{ option: 'value', rule, received: value }], { member, key });
}

/** The option `unchanged`: `true` for a value that says the same as the one in place. */
export type Unchanged<T> = 'deep' | ((before: T, now: T) => boolean);

/** Whether a loaded value is the one in place. May throw. */
type IsUnchanged = (before: unknown, now: unknown) => boolean;

/** The option, ready to be asked on the stack of a load that has ended. */
export function isUnchangedBy(option: Unchanged<never> | undefined): IsUnchanged | undefined {
  if (option === undefined) return undefined;
  if (option === 'deep') return (before, now) => before === now || areDeepEqual(before, now);
  return (before, now) => {
    const verdict: unknown = ignoreThenable<unknown>(option(before as never, now as never));
    if (typeof verdict === 'boolean') return verdict;
    throw new TypeError('unchanged must return true or false, and not a promise of it');
  };
}

/** A load that ends when deep equality is there: it is imported by the first of them. */
function withDeepEqual<T>(load: Load<T>, logger: SafeLogger): Load<T> {
  let isReported = false;
  const report = (error: unknown): void => {
    if (!isReported)
      logger.error("unchanged: 'deep' could not be imported, each value counts as a new one", error);
    isReported = true;
  };
  return (context, entry, abort) => {
    const imported = importDeepEqual()?.catch(report);
    const later = (returned: KeyedLoadReturn<T>): ReturnType<Load<T>> =>
      imported === undefined || context.previous === undefined ? returned : imported.then(() => returned);
    return settled(() => load(context, entry, abort), later, rethrow);
  };
}

/** The output of the schema for a value: at once, unless the schema is asynchronous. @param refuse throws. */
function validated<T>(
  value: unknown,
  { schema }: ResolvedOptions,
  refuse: (refusal: RefusedValue) => never,
): T | PromiseLike<T> {
  if (schema === undefined) return value as T;
  return settled(
    () => schema['~standard'].validate(value),
    (result) => {
      if (result.issues === undefined) return result.value as T;
      return refuse({ reason: schemaRefusal(result.issues), size: countOf(value) });
    },
    (cause) => refuse({ reason: `the schema failed: ${messageOf(cause)}`, size: countOf(value), cause }),
  );
}

/** Runs a step, then the one for its end: on this stack, unless the step returns a promise. */
function settled<A, B>(
  step: () => A | PromiseLike<A>,
  then: (result: A) => B | PromiseLike<B>,
  failed: (error: unknown) => B | PromiseLike<B>,
): B | PromiseLike<B> {
  let result: A | PromiseLike<A>;
  try {
    result = step();
  } catch (error) {
    return failed(error);
  }
  return isThenable(result)
    ? Promise.resolve(result as PromiseLike<A>).then(then, failed)
    : then(result as A);
}

/** For {@link settled}, where a failure is that of the whole. */
function rethrow(error: unknown): never {
  throw error;
}

/** Of a refused value, which is not kept. */
type Summary = Pick<Refused, 'digest' | 'differences'>;

/** The longest slice of work on a digest, in milliseconds. */
const SLICE_MS = 5;

/**
 * A refused value, compared with the one before. At once where there is none, and the value is not large.
 *
 * @param deadlineAt that of the load (monotonic): half of the time to it is left to the comparison.
 */
function summaryOf(
  value: unknown,
  previous: LoadContext['previous'],
  deadlineAt: number,
  options: ResolvedOptions,
): Summary | Promise<Summary> {
  const digest = digestOf(value, options.clock);
  if (previous === undefined && typeof digest === 'string') return { digest };
  return compared(previous, value, digest, deadlineAt, options);
}

async function compared(
  previous: LoadContext['previous'],
  value: unknown,
  digest: string | Promise<string>,
  deadlineAt: number,
  { idOf, clock }: ResolvedOptions,
): Promise<Summary> {
  const summary = { digest: await digest };
  if (previous === undefined) return summary;
  const startedAt = clock.monotonic();
  const untilAt = startedAt + (deadlineAt - startedAt) / 2;
  const yields = (): Promise<void> => {
    if (clock.monotonic() > untilAt) throw new Error('the load must end');
    return yieldToEventLoop();
  };
  try {
    const { differenceOf } = await lateImport(() => import('../data/difference.ts'));
    return {
      ...summary,
      differences: withoutWhole(value, await differenceOf(previous.value, value, idOf, yields)),
    };
  } catch {
    return summary; // there was no time, idOf threw, or a bundler has left the comparison out
  }
}

/** Where the values were compared as wholes the sample is the refused value itself, which is not kept. */
function withoutWhole(value: unknown, differences: Difference): Difference {
  const { changed } = differences;
  const isWhole = typeof value === 'object' && changed.samples[0]?.after === value;
  return isWhole ? { ...differences, changed: { ...changed, samples: [] } } : differences;
}

/** The digest of a value: at once, unless it is large. */
function digestOf(value: unknown, clock: Pick<Clock, 'monotonic'>): string | Promise<string> {
  const steps = digestSteps(value);
  const slice = (): IteratorResult<undefined, string> => {
    const until = clock.monotonic() + SLICE_MS;
    let step = steps.next();
    while (step.done !== true && clock.monotonic() < until) step = steps.next();
    return step;
  };
  const first = slice();
  if (first.done === true) return first.value;
  return (async () => {
    for (;;) {
      await yieldToEventLoop();
      const step = slice();
      if (step.done === true) return step.value;
    }
  })();
}

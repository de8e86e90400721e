import { firstOfNotes } from '../data/backup.ts';
import { ownIdOf, withIdOf } from '../data/id-of.ts';
import { coolDownMs } from '../engine/cool-down.ts';
import { PreviousValue } from '../engine/previous-value.ts';
import { retryAfterMs } from '../engine/retry-after.ts';
import { retryWithin } from '../engine/retry-within.ts';
import { refusalOf } from '../guard/verdict.ts';
import type { Accept, KeepOptions, LoadContext } from '../index.ts';
import { messageOf } from '../observe/logger.ts';
import { printable } from '../printable.ts';
import { unlessAborted } from '../time/on-abort.ts';
import { showDuration } from '../time/show-duration.ts';
import { waitedFor, whileWaiting } from '../time/waited-for.ts';
import { NoAnswerError, withTimeout } from '../time/with-timeout.ts';
import { placeOf, previousOf, withFirstOf } from './first-of-notes.ts';
import { type FirstOfOptions, type ResolvedFirstOf, resolveFirstOf } from './first-of-options.ts';
import type { Source, SourceContext, SourceMeta } from './source.ts';
import { type Answer, ask, returned, type SourceLike } from './source-like.ts';

/**
 * Sources in an order: the next one is asked when one fails, does not answer in time, or `accept` refuses its value. The first one is
 * the primary, the others are backups.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { firstOf } from 'tickless/sources';
 *
 * const prices = new RefreshingValue({
 *   name: 'prices',
 *   load: firstOf(
 *     async () => Promise.reject(new Error('the service is down')),
 *     async () => ({ apple: 120 }), // shipped with the program
 *   ),
 * });
 * console.log(await prices.get()); // { apple: 120 }
 * console.log(JSON.stringify(prices.inspect().meta?.firstOf, ['index', 'failures'])); // {"index":1,"failures":["the service is down"]}
 * ```
 *
 * Each source gets `previous` only where the value in place is its own, so that a `keep()` is never about the value of
 * another one. A value of a backup is due again at `coolDown`, not at the schedule's time. A backup replaces a newer edition
 * of a source before it only when that is older than `maxStaleness`, or than a period (`allowOlderAfter`).
 *
 * When all of them fail, the load fails with an `AggregateError`: `errors` has one of each, in their order, and `cause` is the
 * primary's, so that its `Retry-After` counts. When `signal` is aborted no further source is asked.
 *
 * @throws {TicklessError} `OPTION` naming every source that is not a function, and every option that breaks a rule.
 */
export function firstOf<T>(...sources: readonly [SourceLike<T>, ...SourceLike<T>[]]): Source<T>;
export function firstOf<T>(
  ...sourcesAndOptions: readonly [SourceLike<T>, ...SourceLike<T>[], FirstOfOptions<T>]
): Source<T>;
export function firstOf<T>(...given: readonly unknown[]): Source<T> {
  const options = resolveFirstOf<T>(given);
  const { sources } = options;
  const idOf = sources.map(ownIdOf).find((one) => one !== undefined);
  return withIdOf(idOf, async (context: SourceContext): ReturnType<Source<T>> => {
    const { signal } = context;
    const failures: unknown[] = [];
    for (const [index, source] of sources.entries()) {
      try {
        const answer = await answerInTime(source, index, context, options);
        const place = placeOf(index, context, options.clock.now());
        const metadata = { ...answer.options, meta: withFirstOf(answer.meta, place, failures) };
        const { inARow } = place;
        if (inARow === undefined) return returned(answer, metadata);
        return returned(answer, dueAtCoolDown(metadata, inARow, failures, options));
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error);
      }
    }
    throw allFailed(failures, sources);
  });
}

/** In characters. */
const LONGEST_NAME = 60;
const LONGEST_FAILURE = 300;

/** The answer of one source that may replace the value in place. */
function answerInTime<T>(
  source: SourceLike<T>,
  index: number,
  context: SourceContext,
  options: ResolvedFirstOf<T>,
): Promise<Answer<T>> {
  const { sources, timeoutMs, clock } = options;
  const previous = previousOf(context, index);
  const late = new AbortController();
  const signal = AbortSignal.any([context.signal, late.signal]);
  const answer = async (): Promise<Answer<T>> => {
    const found = await ask(source, { ...context, signal, previous });
    await refuseUnlessAccepted(found, index, context, signal, options);
    return found;
  };
  const named = (): Promise<Answer<T>> =>
    whileWaiting(context.signal, () => `source ${sourceName(source, index)}`, answer, signal);
  if (index === sources.length - 1 || timeoutMs === Infinity) return named();
  // An aborted source that goes on leaves no timer behind.
  return withTimeout(() => unlessAborted(named(), signal), timeoutMs, clock).catch((error) => {
    const hung = error instanceof NoAnswerError ? waitedFor(signal) || source.name : '';
    const failure = hung === '' ? error : new NoAnswerError(timeoutMs, hung);
    late.abort(failure);
    throw failure;
  });
}

async function refuseUnlessAccepted<T>(
  { origin, value, meta }: Answer<T>,
  index: number,
  context: SourceContext,
  signal: AbortSignal,
  { accept, allowOlderAfterMs, clock }: ResolvedFirstOf<T>,
): Promise<void> {
  if (origin === 'kept') return;
  const { previous } = context;
  const placed = firstOfNotes(previous?.meta);
  if (previous !== undefined && placed !== undefined && placed.index < index) {
    const leftMs =
      allowOlderAfterMs === undefined
        ? PreviousValue.outlivedInMs(previous)
        : previous.loadedAt + allowOlderAfterMs - clock.now();
    const reason = leftMs >= SHORTEST_LEFT_MS ? olderEdition(meta, previous) : undefined;
    if (reason !== undefined) throw new RefusedAnswer(reason, leftMs);
  }
  if (accept === undefined) return;
  const { trigger, token: version, key } = context as LoadContext & { readonly key?: unknown };
  const details = { previous, version, trigger, key, meta } as Parameters<Accept<T>>[1];
  const verdict = await whileWaiting(
    signal,
    () => 'accept',
    () => accept(value, details),
  );
  if (verdict === true) return;
  const [reason, cause] = refusalOf(verdict);
  throw new RefusedAnswer(reason, Infinity, cause);
}

/** Less is rounding: the load would be tried again at once. */
const SHORTEST_LEFT_MS = 1;

/** A source has answered, with what may not replace the value in place. */
class RefusedAnswer extends Error {
  /** How long for, in milliseconds; `Infinity`: for ever. */
  readonly leftMs: number;

  constructor(reason: string, leftMs: number, cause?: unknown) {
    const forMs = leftMs < Infinity ? ` for ${showDuration(leftMs)} more (allowOlderAfter)` : '';
    super(`refused${forMs}: ${reason}`, { cause });
    this.leftMs = leftMs;
  }
}

/** Its place, and its name where it is a function that has one: `2 (fromMirror)`. */
function sourceName({ name }: SourceLike<unknown>, index: number): string {
  return `${index + 1}${name === '' ? '' : ` (${printable(name, LONGEST_NAME)})`}`;
}

/** Metadata of a value that the next read after the cool-down replaces, or that the source says is due before. */
function dueAtCoolDown<T>(
  metadata: Answer<T>['options'],
  inARow: number,
  failures: readonly unknown[],
  { coolDown, clock, random }: ResolvedFirstOf<T>,
): KeepOptions {
  const { dueAfter = Infinity } = metadata;
  const restMs = Math.max(...failures.map((error) => retryAfterMs(error, clock.now())));
  const delayMs = Math.ceil(Math.max(restMs, coolDownMs(coolDown, inARow, random())));
  return { ...metadata, dueAfter: Math.min(dueAfter, delayMs) };
}

function allFailed(
  failures: readonly unknown[],
  sources: readonly { readonly name: string }[],
): AggregateError {
  const [cause] = failures;
  const causes = failures.map((error, index) => {
    const name = printable(sources[index]?.name ?? '', LONGEST_NAME);
    const message = printable(messageOf(error), LONGEST_FAILURE); // the last one is to be seen too
    return `(${index + 1}) ${message}${name === '' || message.includes(name) ? '' : ` (${name})`}`;
  });
  const refused = failures.filter((error) => error instanceof RefusedAnswer);
  const what =
    refused.length === 0 ? 'no source has answered' : 'no source has an answer that may replace the value';
  const error = new AggregateError(failures, `${what}: ${causes.join('; ')}`, { cause });
  return retryWithin(error, Math.min(...refused.map(({ leftMs }) => leftMs)));
}

/**
 * Why an edition may not replace the value in place; `undefined`: it is not older. Where the value in place does not say when it was
 * made, that was before it was loaded.
 *
 * @param placed the value in place, with the notes of its source.
 */
function olderEdition(
  candidate: SourceMeta | undefined,
  placed: { readonly loadedAt: number; readonly meta?: SourceMeta | undefined },
): string | undefined {
  const { loadedAt, meta } = placed;
  const editedAt = instantOf(candidate);
  if (editedAt === undefined)
    return 'it does not say when its edition was made, which may be before the one in place';
  const ms = (instantOf(meta) ?? loadedAt) - editedAt;
  return ms > 0 ? `its edition is ${showDuration(ms)} older than the one in place` : undefined;
}

function instantOf(meta: SourceMeta | undefined): number | undefined {
  const editedAt: unknown = meta?.editedAt;
  return Number.isFinite(editedAt) ? (editedAt as number) : undefined;
}

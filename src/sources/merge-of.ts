import { isOfBackup, mergeOfNotes } from '../data/backup.ts';
import { isMeta } from '../data/value-meta.ts';
import { PreviousValue } from '../engine/previous-value.ts';
import type { KeepOptions } from '../index.ts';
import { messageOf } from '../observe/logger.ts';
import { OptionChecks } from '../option-checks.ts';
import { isPlainObject } from '../plain-object.ts';
import { printable } from '../printable.ts';
import { whileWaiting } from '../time/waited-for.ts';
import type { Source, SourceContext, SourceMeta } from './source.ts';
import { type Answer, ask, returned, type SourceLike, type SourceValue } from './source-like.ts';

/**
 * Several sources as one: the value is an object with the value of each, under the same names. They are asked at the same time.
 *
 * ```ts
 * import { keep, RefreshingValue } from 'tickless';
 * import { mergeOf } from 'tickless/sources';
 *
 * const shop = new RefreshingValue({
 *   name: 'shop',
 *   load: mergeOf({
 *     rates: async () => ({ USD: Math.random() }),
 *     countries: async ({ previous }) => (previous === undefined ? ['NL', 'BE'] : keep()),
 *   }),
 * });
 * const { countries } = await shop.get();
 * const next = await shop.refresh();
 * console.log(next.countries === countries, next.rates.USD < 1); // true true
 * ```
 *
 * Each gets its own part of the value in place as `previous`, with its own notes: one that answers `keep()` keeps that part, and
 * if all do, the whole value is kept. When one fails, the load fails with an error that names it, the others are aborted, and the
 * whole value stays. Parts that should be fresh without each other are values of their own, joined by `derive`.
 *
 * Where each part says when it is due, the soonest instant counts; else only that of a backup of `firstOf`. The shortest `maxStaleness` counts.
 * `headers` and `tags` of the parts do not: the schedule `httpFreshness` finds nothing to read.
 *
 * @throws {TicklessError} `OPTION` naming every part that is not a function; without any part.
 */
export function mergeOf<S extends Readonly<Record<string, SourceLike<unknown>>>>(
  sources: S,
): Source<{ -readonly [N in keyof S]: SourceValue<S[N]> }> {
  const parts = Object.entries(sources ?? {});
  const checks = new OptionChecks('mergeOf');
  const hasSources = parts.length > 0 && !Array.isArray(sources);
  checks.that(hasSources, 'sources', 'must be an object with at least one source', sources);
  for (const [name, source] of parts) checks.function(name, source);
  checks.done();
  return async (context) => {
    const answers = await askAll(parts, context);
    const values = Object.fromEntries(answers.map(([name, { value }]) => [name, value]));
    const metas = answers.map(([name, { meta }]) => [name, meta ?? {}] as const);
    const origin = answers.every(([, answer]) => answer.origin === 'kept') ? 'kept' : 'loaded';
    const options = soonest(answers.map(([, answer]) => answer));
    return returned({ origin, value: values as never }, { ...options, meta: withMergeOf(metas) });
  };
}

type Named<T> = readonly [name: string, T];

async function askAll(
  parts: readonly Named<SourceLike<unknown>>[],
  context: SourceContext,
): Promise<readonly Named<Answer<unknown>>[]> {
  const failed = new AbortController();
  const signal = AbortSignal.any([context.signal, failed.signal]);
  const answers = parts.map(async ([name, source]) => {
    try {
      const inner = AbortSignal.any([signal]);
      const part = { ...context, signal: inner, previous: previousPart(context, name) };
      const answer = (): Promise<Answer<unknown>> => ask(source, part);
      return [name, await whileWaiting(context.signal, () => `part ${name}`, answer, inner)] as const;
    } catch (cause) {
      throw new Error(`${name}: ${messageOf(cause)}`, { cause });
    }
  });
  try {
    return await Promise.all(answers);
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

/**
 * The metadata of the whole. The due time of a part is also that of the others, so that it counts only where all have one, or where it is
 * sooner than any schedule: that of a backup.
 */
function soonest(answers: readonly Answer<unknown>[]): KeepOptions {
  const isTimed = ({ options }: Answer<unknown>): boolean => options.dueAfter !== undefined;
  const timed = answers.every(isTimed) ? answers : answers.filter(({ meta }) => isOfBackup(meta));
  return {
    dueAfter: least(timed.map(({ options }) => options.dueAfter)),
    maxStaleness: least(answers.map(({ options }) => options.maxStaleness)),
  };
}

function least(numbers: readonly (number | undefined)[]): number | undefined {
  const given = numbers.filter((number) => number !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}

/** In characters. */
const LONGEST_SOURCE = 200;

/** A part of the value in place, where `mergeOf` has made it and its notes were kept. */
function previousPart({ previous }: SourceContext, name: string): SourceContext['previous'] {
  const notes = mergeOfNotes(previous?.meta);
  const { value, loadedAt } = previous ?? {};
  if (notes === undefined || loadedAt === undefined || !Object.hasOwn(notes, name)) return undefined;
  if (!isPlainObject(value) || !Object.hasOwn(value, name)) return undefined;
  return new PreviousValue(value[name], loadedAt, notes[name], previous);
}

/**
 * The notes of all parts as those of the whole, whose edition is that of the part that was edited last. Where they are too long for `meta`, the
 * longest are left out: these parts are asked without conditions the next time.
 */
function withMergeOf(parts: readonly (readonly [name: string, meta: SourceMeta])[]): SourceMeta {
  const sources = parts.map(([name, { source }]) => (source === undefined ? name : `${name}: ${source}`));
  const whole = {
    source: printable(sources.join(', '), LONGEST_SOURCE),
    ...lastEdit(parts.map(([, meta]) => meta)),
  };
  const kept = parts.toSorted(([, one], [, other]) => lengthOf(one) - lengthOf(other));
  const withFirst = (count: number): SourceMeta => ({
    ...whole,
    mergeOf: Object.fromEntries(kept.slice(0, count)),
  });
  let [fitting, tooMany] = [0, kept.length + 1]; // halved: there may be thousands
  while (tooMany - fitting > 1) {
    const middle = (fitting + tooMany) >> 1;
    if (isMeta(withFirst(middle))) fitting = middle;
    else tooMany = middle;
  }
  return withFirst(fitting);
}

function lastEdit(metas: readonly SourceMeta[]): Pick<SourceMeta, 'editedAt'> {
  const edits = metas.map(({ editedAt }) => editedAt);
  return edits.every((edit) => Number.isFinite(edit)) ? { editedAt: Math.max(...(edits as number[])) } : {};
}

function lengthOf(meta: SourceMeta): number {
  return JSON.stringify(meta).length;
}

import { isOfBackup } from '../data/backup.ts';
import type { KeepOptions } from '../index.ts';
import { messageOf } from '../observe/logger.ts';
import { OptionChecks } from '../option-checks.ts';
import { whileWaiting } from '../time/waited-for.ts';
import { previousPart, withMergeOf } from './merge-of-notes.ts';
import type { Source, SourceContext } from './source.ts';
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

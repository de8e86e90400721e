import { type LoadResult, readLoadResult } from '../engine/load-result.ts';
import {
  type KeepOptions,
  type Kept,
  keep,
  type LoadContext,
  type Loaded,
  type LoadReturn,
  loaded,
} from '../index.ts';
import type { SourceContext, SourceMeta } from './source.ts';

/** A source, or a load of your own: what `firstOf` and `mergeOf` take. It may return what the load of a value may. */
export type SourceLike<T> = (context: LoadContext<never>) => LoadReturn<T> | PromiseLike<LoadReturn<T>>;

/** The type of the value that a source makes. */
export type SourceValue<S extends SourceLike<unknown>> = ValueOfReturn<Awaited<ReturnType<S>>>;

type ValueOfReturn<R> = R extends Loaded<infer T> ? T : Exclude<R, Kept>;

/** The answer of a source. Its notes are those of the value: also where it was kept without new ones. */
export interface Answer<T> extends Pick<LoadResult<T>, 'origin' | 'value'> {
  readonly origin: 'loaded' | 'kept';
  readonly meta: SourceMeta | undefined;
  /** All but `meta`; durations in milliseconds. */
  readonly options: Omit<KeepOptions, Duration> & { readonly [name in Duration]?: number | undefined };
}

type Duration = 'dueAfter' | 'maxStaleness';

/** @throws what the source throws, and a `TypeError` for an answer that a load may not return. */
export async function ask<T>(source: SourceLike<T>, context: SourceContext): Promise<Answer<T>> {
  const { previous } = context;
  const returned = await source(context as LoadContext<never>);
  const held = { isLoaded: previous !== undefined, value: previous?.value as T };
  const result = readLoadResult(returned, held, { kind: 'value' });
  const { origin, value, metadata } = result as LoadResult<T>;
  const { meta, dueAfterMs: dueAfter, maxStalenessMs: maxStaleness, ...options } = metadata;
  return {
    origin: origin as Answer<T>['origin'],
    value,
    meta: meta ?? (origin === 'kept' ? previous?.meta : undefined),
    options: { ...options, dueAfter, maxStaleness },
  };
}

/** For the engine, or for another source around this one. */
export function returned<T>(
  { origin, value }: Pick<Answer<T>, 'origin' | 'value'>,
  options: KeepOptions,
): Loaded<T> | Kept {
  return origin === 'kept' ? keep(options) : loaded(value, options);
}

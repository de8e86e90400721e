import { type IdOf, withIdOf } from '../data/id-of.ts';
import { isMeta } from '../data/value-meta.ts';
import type { Kept, Loaded } from '../index.ts';
import type { OptionChecks } from '../option-checks.ts';
import { printable } from '../printable.ts';
import { whileWaiting } from '../time/waited-for.ts';

/** The part of the context of a load that a source reads: any context of tickless, of a value or a key, has it. */
export interface SourceContext {
  /** Aborted when the execution is over before the source has answered. */
  readonly signal: AbortSignal;
  /** The value in place; its `meta` tells a source what it has answered before. `undefined`: none. */
  readonly previous?:
    | { readonly value: unknown; readonly loadedAt: number; readonly meta?: SourceMeta | undefined }
    | undefined;
}

/**
 * Where a value is from, as its `meta`: in `inspect()`, and as `previous.meta` for the next load, on any
 * instance of a cluster. A source adds notes of its own, such as an `etag`.
 */
export interface SourceMeta {
  /** The source, for people and to know it again: a URL without credentials, a path, a statement. */
  readonly source?: string;
  /**
   * When the source says that this edition was made, in epoch milliseconds: `Last-Modified`, the time of change of a file.
   * Not present: it does not say.
   */
  readonly editedAt?: number;
  readonly [note: string]: unknown;
}

/**
 * A `load`, ready made: for the option `load` of a value, for `firstOf` and `mergeOf`, and for the load of a cache, one for each
 * key: `(key, context) => sourceOf(key)(context)`. It answers with a value and its {@link SourceMeta}, or with `keep()` where
 * `previous` is the edition that it has now. Rejects with an error that names the source; the value in place stays.
 */
export interface Source<T> {
  (context: SourceContext): Promise<Loaded<T> | Kept>;
  /** Its option of that name: a refused list and versions are compared by it. */
  readonly idOf?: IdOf | undefined;
}

/** A source that is named in the error of a load which it keeps waiting. */
export function namedSource<T>(
  { name, idOf }: { readonly name: string; readonly idOf: IdOf | undefined },
  load: (context: SourceContext) => Promise<Loaded<T> | Kept>,
): Source<T> {
  return withIdOf(idOf, (context: SourceContext) =>
    whileWaiting(
      context.signal,
      () => name,
      () => load(context),
    ),
  );
}

/** The name that a source is given, shown in `meta`, if it is given one. */
export function checkSourceName(checks: OptionChecks, source: string | undefined): void {
  if (source === undefined) return;
  checks.name('source', source);
  checks.that(source.length <= 500, 'source', 'must have at most 500 characters', source);
}

/** The notes of the value in place, if this source has made it; else `undefined`: it can't be kept. */
export function ownNotes({ previous }: SourceContext, source: string): SourceMeta | undefined {
  return previous?.meta?.source === source ? previous.meta : undefined;
}

/** In characters. */
const LONGEST_SOURCE = 300;

/** Notes that fit into `meta`. Of longer ones `source`, cut, and `editedAt` are left: the next load asks without conditions. */
export function fittingNotes(notes: SourceMeta): SourceMeta {
  if (isMeta(notes)) return notes;
  const { source = '', editedAt } = notes;
  return { source: printable(source, LONGEST_SOURCE), ...(editedAt !== undefined && { editedAt }) };
}

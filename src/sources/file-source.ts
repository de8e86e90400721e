import { keep, loaded } from '../index.ts';
import { ownMessageOf } from '../observe/logger.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { unlessAborted } from '../time/on-abort.ts';
import { Semaphore } from '../time/semaphore.ts';
import { type ByteLimit, checkByteLimit, MAX_BYTES } from './byte-limit.ts';
import { fileSystem } from './files/file-system.ts';
import { type Edition, fileNotes, isSameEdition, mustBeFile, readEdition } from './files/read-edition.ts';
import { checkParse, type ParseOptions, parseFrom } from './parse.ts';
import { fittingNotes, namedSource, ownNotes, type Source, type SourceContext } from './source.ts';
import { targetName } from './source-url.ts';

/** The options of {@link fileSource}. */
export interface FileSourceOptions<T> extends ParseOptions<T>, ByteLimit {}

/**
 * A source that reads a file. Each load asks the file system for its state; a file with the same times of change, size and inode
 * is kept, and not opened. Between loads there is neither a watcher nor an open file.
 *
 * Links are followed: the swap of `..data`, by which Kubernetes mounts a new edition of a ConfigMap or a Secret, is seen by the
 * next load. (A file mounted by `subPath` is never swapped by Kubernetes.)
 *
 * A file that changes while it is read, or was changed in the 50 ms before, is read again, six times in all within 0.4 s. A writer
 * that pauses half-way for longer can't be distinguished from one that is done: write a new file beside it, and rename that.
 *
 * The load fails, and the value in place stays, when the file is missing, may not be read, is not a regular file (a directory, a pipe,
 * a device), has more bytes than `maxBytes`, is not UTF-8 or not in the format of `parse`.
 *
 * ```ts
 * import { mkdtemp, writeFile } from 'node:fs/promises';
 * import { RefreshingValue } from 'tickless';
 * import { fileSource } from 'tickless/sources';
 *
 * const path = `${await mkdtemp('prices-')}/prices.json`;
 * await writeFile(path, '{"apple":3}');
 * const prices = new RefreshingValue({ name: 'prices', load: fileSource<Record<string, number>>(path) });
 * console.log(await prices.get()); // { apple: 3 }
 * ```
 *
 * @param path a path, or a `file:` URL. A relative path is one of the working directory. It is the `source` of the `meta`, beside
 *   `editedAt`, the time of change of the file.
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function fileSource(
  path: string | URL,
  options: FileSourceOptions<string> & { readonly parse: 'text' },
): Source<string>;
export function fileSource(
  path: string | URL,
  options: FileSourceOptions<Record<string, string>[]> & { readonly parse: 'csv' },
): Source<Record<string, string>[]>;
export function fileSource<T = unknown>(path: string | URL, options?: FileSourceOptions<T>): Source<T>;
export function fileSource<T>(path: string | URL, options?: FileSourceOptions<T>): Source<T> {
  const checks = new OptionChecks('fileSource');
  const { parse = 'json', idOf, maxBytes = MAX_BYTES } = ownOptions(options ?? {}) as FileSourceOptions<T>;
  const place = placeOf(path);
  const isPlace = place instanceof URL ? place.protocol === 'file:' : place !== undefined;
  checks.that(isPlace, 'path', 'must be a path or a file: URL', targetName(path));
  checks.names('', options ?? {}, ['parse', 'idOf', 'maxBytes']);
  checkParse(checks, parse, idOf);
  checkByteLimit(checks, maxBytes);
  checks.done();
  const source = String(place);
  // A mount that hangs then keeps one thread of the process, which has four, however often it is loaded.
  const reads = new Semaphore(1);

  /** @returns `undefined`: the file is the edition in place. */
  const read = async (context: SourceContext): Promise<Edition | undefined> => {
    const state = await fileSystem().stat(place as string | URL, { bigint: true });
    mustBeFile(state);
    if (isSameEdition(ownNotes(context, source), state)) return undefined;
    context.signal.throwIfAborted();
    return readEdition(place as string | URL, maxBytes, context.signal);
  };
  return namedSource({ name: source, idOf }, async (context) => {
    const { signal } = context;
    const turn = reads.run(() => read(context), signal);
    const edition = await unlessAborted(turn, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new Error(`${source} ${problemOf(error)}`, { cause: error });
    });
    if (edition === undefined) return keep();
    const value = await parseFrom(source, edition.bytes, parse);
    return loaded(value, {
      meta: fittingNotes(fileNotes(source, edition.state, edition.readAt, edition.bytes.length)),
    });
  });
}

/** @returns `undefined`: it is not one. */
function placeOf(path: unknown): string | URL | undefined {
  if (path instanceof URL) return path;
  if (typeof path !== 'string' || path === '' || path.includes('\0')) return undefined;
  return /^[a-z][a-z\d]+:\/\//i.test(path) && URL.canParse(path) ? new URL(path) : path;
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist: one of its directories is a file',
  EACCES: 'may not be read by this process (EACCES)',
  EPERM: 'may not be read by this process (EPERM)',
  ELOOP: 'is a link that leads to itself',
  ENXIO: 'is a device, a pipe or a socket, not a file',
};

/** Ready to follow the name of the file. */
function problemOf(error: unknown): string {
  const { code } = error as { readonly code?: string };
  if (code === undefined) return ownMessageOf(error);
  return PROBLEMS[code] ?? `can't be read: ${ownMessageOf(error)}`;
}

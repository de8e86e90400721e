import { readStream } from '../bounded-stream.ts';
import { keep, loaded } from '../index.ts';
import { ownMessageOf } from '../observe/logger.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { unlessAborted } from '../time/on-abort.ts';
import { type ByteLimit, checkByteLimit, MAX_BYTES, overLimit } from './byte-limit.ts';
import { compressionOf } from './content-coding.ts';
import { validatorsOf } from './http-conditions.ts';
import type { ObjectAnswer, ObjectClient } from './objects/client-types.ts';
import { isNotModified, objectFailure } from './objects/object-failure.ts';
import { optionTypes, typeShown } from './option-types.ts';
import { checkParse, type ParseOptions, parseFrom } from './parse.ts';
import { fittingNotes, namedSource, ownNotes, type Source, type SourceMeta } from './source.ts';

/** The options of {@link objectSource}. */
export interface ObjectSourceOptions<T> extends ParseOptions<T>, ByteLimit {
  /**
   * An `S3` of `@aws-sdk/client-s3` 3: the client that has a method for each command. Beside an `S3Client` of yours make one with
   * the same configuration. It decides over credentials, endpoint and tries of its own. You keep ownership.
   */
  readonly client: ObjectClient;
  readonly bucket: string;
  readonly key: string;
  /** The version of the object, in a bucket with versions. @default the latest one */
  readonly versionId?: string | undefined;
}

const NAMES: readonly (keyof ObjectSourceOptions<unknown>)[] = [
  'client',
  'bucket',
  'key',
  'versionId',
  'parse',
  'idOf',
  'maxBytes',
];

/**
 * A source that reads an object of S3, or of a service with its API. Each load is one `GetObject`; with the `ETag` of the value in
 * place (`If-None-Match`), so that an object that has not changed is kept, and not sent.
 *
 * The load fails, and the value in place stays, when the object is missing or may not be read, when the service is down or throttles
 * (`SlowDown`), when the object has more bytes than `maxBytes`, breaks off, does not match its checksum, or is not in the format of `parse`. A
 * `Retry-After` of the service holds the next load back. The bytes are those that are stored: for an object with a `Content-Encoding`
 * give a `parse` that decodes `bytes`.
 *
 * ```ts no-run
 * import { S3 } from '@aws-sdk/client-s3';
 * import { RefreshingValue } from 'tickless';
 * import { objectSource } from 'tickless/sources';
 *
 * const prices = new RefreshingValue({
 *   name: 'prices',
 *   load: objectSource({ client: new S3(), bucket: 'reference-data', key: 'prices.json' }),
 *   schedule: '5m',
 * });
 * ```
 *
 * The `source` of the `meta` is `s3://bucket/key`, beside `editedAt`, the `LastModified` of the object, its `etag`, and its
 * `versionId` if it has one.
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function objectSource(
  options: ObjectSourceOptions<string> & { readonly parse: 'text' },
): Source<string>;
export function objectSource(
  options: ObjectSourceOptions<Record<string, string>[]> & { readonly parse: 'csv' },
): Source<Record<string, string>[]>;
export function objectSource<T = unknown>(options: ObjectSourceOptions<T>): Source<T>;
export function objectSource<T>(options: ObjectSourceOptions<T>): Source<T> {
  const checks = new OptionChecks('objectSource');
  const given = ownOptions(options ?? {}) as ObjectSourceOptions<T>;
  const { client, bucket, key, versionId, parse = 'json', idOf, maxBytes = MAX_BYTES } = given;
  checks.names('', optionTypes(given), NAMES);
  const isClient = typeof (client as Partial<ObjectClient> | null | undefined)?.getObject === 'function';
  const clients = 'must be an S3 of @aws-sdk/client-s3 (with getObject), not an S3Client';
  checks.that(isClient, 'client', clients, typeShown(client)); // it may hold a password
  checks.name('bucket', bucket);
  checks.name('key', key);
  if (versionId !== undefined) checks.name('versionId', versionId);
  checkParse(checks, parse, idOf);
  checkByteLimit(checks, maxBytes);
  checks.done();
  const source = `s3://${bucket}/${key}${versionId === undefined ? '' : `?versionId=${versionId}`}`;

  return namedSource({ name: source, idOf }, async (context) => {
    const { signal } = context;
    signal.throwIfAborted();
    const { etag } = validatorsOf(ownNotes(context, source) ?? {});
    const request = {
      Bucket: bucket,
      Key: key,
      ...(versionId !== undefined && { VersionId: versionId }),
      ...(etag !== undefined && { IfNoneMatch: etag }),
    };
    const asked = (async () => client.getObject(request, { abortSignal: signal }))();
    let answer: ObjectAnswer;
    try {
      answer = await unlessAborted(asked, signal);
    } catch (error) {
      if (signal.aborted) asked.then(closeBody).catch(() => {}); // of a client that answers all the same
      signal.throwIfAborted();
      if ('IfNoneMatch' in request && isNotModified(error)) return keep();
      throw objectFailure(source, error);
    }
    const bytes = await readBody(answer, maxBytes, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new Error(`${source} ${ownMessageOf(error)}`, { cause: error });
    });
    return loaded(await parseFrom(source, bytes, parse), { meta: notesOf(source, answer) });
  });
}

async function closeBody({ Body }: ObjectAnswer): Promise<void> {
  await Body?.transformToWebStream().getReader().cancel();
}

async function readBody(
  { Body, ContentLength, ContentEncoding }: ObjectAnswer,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (Body === undefined) return new Uint8Array();
  const stream = Body.transformToWebStream();
  if (ContentLength !== undefined && ContentLength > maxBytes) {
    Promise.resolve(stream.getReader().cancel()).catch(() => {});
    throw new Error(overLimit(maxBytes));
  }
  const bytes = await readStream(stream, maxBytes, signal, (error, length) => {
    return new Error(`failed after ${length} bytes: ${ownMessageOf(error)}`, { cause: error });
  });
  if (bytes === undefined) throw new Error(overLimit(maxBytes));
  const isAsStored = compressionOf(ContentEncoding) === undefined;
  if (isAsStored && ContentLength !== undefined && bytes.length !== ContentLength)
    throw new Error(`broke off after ${bytes.length} of ${ContentLength} bytes`);
  return bytes;
}

/** A header that is malformed is an invalid `Date` in some versions of the SDK. */
function isInstant(date: Date | undefined): date is Date {
  return date !== undefined && !Number.isNaN(date.getTime());
}

function notesOf(source: string, { ETag, LastModified, VersionId }: ObjectAnswer): SourceMeta {
  return fittingNotes({
    source,
    ...(isInstant(LastModified) && { editedAt: LastModified.getTime() }),
    ...(ETag !== undefined && { etag: ETag }),
    ...(VersionId !== undefined && { versionId: VersionId }),
  });
}

import { parseJson } from '../bounded-json.ts';
import type { Mark } from '../data/mark.ts';
import type { PublishOrigin } from '../data/origin.ts';
import type { VersionMaker, VersionRecord } from '../data/version-record.ts';
import { showKey } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';
import { isNumber, ownOptions } from '../option-checks.ts';
import { type StandardSchema, schemaRefusal } from '../schema.ts';
import { checksum, checksumInSlices } from './checksum.ts';
import { UndecodableError } from './damage.ts';
import { thisHost, thisProcess } from './identity.ts';
import type { PinOrigin } from './pin.ts';
import { SEAL_LENGTH, sealOf } from './seal.ts';
import type { SliceBudget } from './slice-budget.ts';
import { decodeBody, type EncodedBody, formatOf } from './snapshot-body.ts';
import { areTimes, type SnapshotTimes, type TimesLine, timesIn, timesLine } from './snapshot-times.ts';
import type { Codec } from './store-contract.ts';

/** The value or key that has made a snapshot. One of another maker is not used. */
export interface SnapshotMaker {
  /** A value, or a key of a cache. */
  readonly kind: 'value' | 'key';
  /** The name of the value; of a key, with the name of its cache. */
  readonly name: string;
}

/** The publisher of a snapshot, for people: no text of it decides anything. */
export type Publisher = Partial<Pick<VersionRecord, 'owner' | 'host' | 'made' | 'by' | 'note'>>;

/** A value on its way between instances, with the metadata of its load. All durations in milliseconds. */
export interface Snapshot extends SnapshotTimes {
  readonly value: unknown;
  /** The source has no such key; there is no value. */
  readonly isAbsent: boolean;
  /** A person has pinned it, until `dueIn`. */
  readonly pinned?: PinOrigin | undefined;
  /** For `history`. */
  readonly made?: VersionMaker | undefined;
  readonly origin?: PublishOrigin | undefined;
  /** It is a mark: there is no value, and all that is older is out of date. */
  readonly mark?: Mark | undefined;
  /** See {@link EncodedBody.digest}. */
  readonly digest?: string | undefined;
}

/**
 * The version of this envelope: one line of JSON, then the value as the codec wrote it. The line ends in a checksum of
 * all the rest; for a long value, of the rest of the line, in which the value has a checksum of its own. JSON of which a
 * digit was changed, or `12345` that was cut to `123`, would be a value like any other.
 */
const ENVELOPE = 1;

/** A foreign text under the name may be large: without this beginning it is not read to the end. */
const BEGINNING = '{"tickless":';

interface Header extends TimesLine {
  readonly tickless: number;
  /** Before all that may be long. Earlier versions of the library write none, and ignore it. */
  readonly publisher?: Publisher;
  readonly format: string;
  /** Snapshots of earlier versions have neither. */
  readonly kind?: SnapshotMaker['kind'];
  readonly name?: string;
  readonly isBase64?: true;
  readonly isAbsent?: true;
  /** By the publisher. */
  readonly isPinned?: true;
  readonly mark?: Mark;
  /** Of what follows the line, in UTF-16 code units. */
  readonly length: number;
  /** Of what follows the line, if that is long. The checksum of the line then covers the line only. */
  readonly bodySum?: string;
  /** Of a value: see {@link EncodedBody.digest}. */
  readonly digest?: string;
}

/** All of a snapshot but its value. */
export type SnapshotMetadata = Omit<Snapshot, 'value' | 'digest'>;

/**
 * The whole text of a snapshot. The age in the metadata is that of the moment of the write.
 *
 * @param request the person or tool that has it published, and why. @default a load
 */
export function withMetadata(
  { format, text, isText, sum, digest }: Omit<EncodedBody, 'bytes'>,
  { isAbsent, pinned, made, origin, mark, ...times }: SnapshotMetadata,
  { kind, name }: SnapshotMaker,
  request: Pick<Publisher, 'by' | 'note'> = {},
): string {
  const header: Header = {
    tickless: ENVELOPE,
    publisher: { owner: thisProcess(), host: thisHost(), made, ...origin, ...request, ...pinned },
    format,
    kind,
    name,
    ...(isText ? {} : { isBase64: true }),
    ...(isAbsent ? { isAbsent } : {}),
    ...timesLine(times),
    ...(pinned === undefined ? {} : { isPinned: true }),
    ...(mark === undefined ? {} : { mark }),
    length: text.length,
    ...(sum === undefined ? {} : { bodySum: sum }),
    ...(digest === undefined ? {} : { digest }),
  };
  const line = JSON.stringify(header).slice(0, -1);
  return `${line}${sealOf(checksum(`${line}\n${sum === undefined ? text : ''}`))}\n${text}`;
}

/**
 * Reads a snapshot. Rejects with an `Error` that names the reason: not a snapshot, damaged, of another format,
 * refused by the codec or the schema, whose output is the value.
 */
export async function decodeSnapshot(
  payload: string,
  { codec, schema }: { readonly codec: Codec; readonly schema?: StandardSchema | undefined },
  reader: SnapshotMaker,
  budget: SliceBudget,
): Promise<Snapshot> {
  const end = payload.indexOf('\n');
  const line = payload.slice(0, end);
  const body = payload.slice(end + 1);
  const header = readHeader(line);
  await checkWhole(header, line, body, budget);
  checkMaker(header, reader);
  if (header.format !== formatOf(codec)) {
    const [written, read] = [header.format, formatOf(codec)].map(showKey);
    throw new Error(`it is of the format ${written}, and the codec reads ${read}`);
  }
  const { isAbsent = false, mark, digest } = header;
  const pinned = header.isPinned && pinOrigin(header);
  const about = { ...timesIn(header), isAbsent, pinned, mark, digest };
  if (isAbsent || header.mark) return { ...about, value: undefined };
  let value: unknown;
  try {
    value = await decodeBody(body, Boolean(header.isBase64), codec, budget);
  } catch (cause) {
    throw new UndecodableError(`the codec can't decode it: ${messageOf(cause)}`, { cause });
  }
  if (schema !== undefined) {
    const result = await budget.limit(() => schema['~standard'].validate(value));
    if (result.issues !== undefined) throw new Error(schemaRefusal(result.issues));
    value = result.value;
  }
  return { ...about, value };
}

/**
 * The publisher of the snapshot that begins so; nothing where the text does not name it, or is not a snapshot.
 *
 * @returns with it how long after its write the version is pinned, in milliseconds; 0: it is not.
 */
export function publisherIn(
  beginning: string,
): Publisher & { readonly pinnedFor: number; readonly mark: Mark | undefined } {
  try {
    const { publisher = {}, isPinned, dueIn, mark } = readHeader(beginning.split('\n', 1)[0] ?? '');
    const texts = Object.entries(publisher).filter(([of, text]) =>
      of === 'made' ? MAKERS.includes(text as VersionMaker) : typeof text === 'string',
    );
    return { ...Object.fromEntries(texts), pinnedFor: isPinned ? (dueIn ?? Infinity) : 0, mark };
  } catch {
    return { pinnedFor: 0, mark: undefined };
  }
}

const MAKERS: readonly VersionMaker[] = ['load', 'set', 'rollback', 'unpin', 'invalidate'];

function pinOrigin({ publisher: { by, note } = {} }: Header): PinOrigin {
  return { by: String(by), ...(typeof note === 'string' ? { note } : {}) };
}

/** Throws if another member has made it: two of one name share the store. */
function checkMaker({ kind, name }: Header, reader: SnapshotMaker): void {
  if ((kind ?? reader.kind) === reader.kind && (name ?? reader.name) === reader.name) return;
  const [maker, own] = [showMaker(kind, name), showMaker(reader.kind, reader.name)];
  throw new Error(`it was made by ${maker}, not by ${own}; use another name, or backends with a namespace`);
}

function showMaker(kind: SnapshotMaker['kind'] | undefined, name: string | undefined): string {
  return `${kind === 'key' ? 'the key' : 'the value'} ${showKey(name)}`;
}

/** Rejects if anything was cut off, added or changed since the write. */
async function checkWhole(
  { length, bodySum }: Header,
  line: string,
  body: string,
  { yields }: SliceBudget,
): Promise<void> {
  if (body.length !== length)
    throw new UndecodableError(`it is ${body.length} characters long, and was ${length}`);
  const summed = [line.slice(0, -SEAL_LENGTH), '\n', bodySum === undefined ? body : ''];
  const isWhole =
    line.slice(-SEAL_LENGTH) === sealOf(await checksumInSlices(summed, yields)) &&
    (bodySum === undefined || bodySum === (await checksumInSlices([body], yields)));
  if (!isWhole) throw new UndecodableError('its checksum is wrong: it was damaged, or edited by hand');
}

function readHeader(line: string): Header {
  let header: Partial<Header> | null = null;
  try {
    if (line.startsWith(BEGINNING)) header = ownOptions(parseJson(line) as Partial<Header> | null);
  } catch {
    // not JSON
  }
  if (typeof header?.tickless !== 'number') throw new UndecodableError('it is not a snapshot of tickless');
  if (header.tickless !== ENVELOPE) throw new Error(`it is of version ${header.tickless} of the envelope`);
  const isWhole =
    typeof header.format === 'string' &&
    areTimes(header) &&
    [undefined, true].includes(header.isAbsent) &&
    [undefined, 'value', 'key'].includes(header.kind) &&
    ['undefined', 'string'].includes(typeof header.name) &&
    isNumber(header.length, 0, Number.MAX_SAFE_INTEGER) &&
    ['undefined', 'string'].includes(typeof header.bodySum) &&
    ['undefined', 'string'].includes(typeof header.digest) &&
    [undefined, true].includes(header.isPinned) &&
    [undefined, 'invalidated', 'dropped'].includes(header.mark);
  if (!isWhole) throw new UndecodableError('its envelope is damaged');
  return header as Header;
}

import { showKey } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';
import { isNumber } from '../option-checks.ts';
import { checksum } from './checksum.ts';
import { UndecodableError } from './damage.ts';
import type { Codec, SnapshotStore } from './store-contract.ts';

/** The value or key that has made a snapshot. One of another maker is not used. */
export interface SnapshotMaker {
  /** A value, or a key of a cache. */
  readonly kind: 'value' | 'key';
  /** The name of the value; of a key, with the name of its cache. */
  readonly name: string;
}

/** A value on its way between instances, with the metadata of its load. All durations in milliseconds. */
export interface Snapshot {
  readonly value: unknown;
  /** The source has no such key; there is no value. */
  readonly isAbsent: boolean;
  /** How old it was when it was written. */
  readonly age: number;
  /** From when it was written to when the next round begins; `Infinity`: never by itself. */
  readonly dueIn: number;
  /** The due time comes from the load, not from the schedule. */
  readonly isDueTimeOverridden: boolean;
  /** How long its load took. */
  readonly took: number;
  /** The age limit that the load gave it; `Infinity`: none. */
  readonly maxStaleness: number | undefined;
  readonly tags: readonly string[] | undefined;
}

/**
 * The version of this envelope: one line of JSON, then the value as the codec wrote it. The line ends in a checksum of
 * all the rest. JSON of which a digit was changed, or `12345` that was cut to `123`, would be a value like any other.
 */
const ENVELOPE = 1;

/** A foreign text under the name may be large: without this beginning it is not read to the end. */
const BEGINNING = '{"tickless":';

/** The end of the line. @param line the rest of it. */
function sealOf(line: string, body: string): string {
  return `,"sum":"${checksum(`${line}\n${body}`)}"}`;
}

const SEAL_LENGTH = sealOf('', '').length;

interface Header {
  readonly tickless: number;
  readonly format: string;
  /** Snapshots of earlier versions have neither. */
  readonly kind?: SnapshotMaker['kind'];
  readonly name?: string;
  readonly isBase64?: true;
  readonly isAbsent?: true;
  readonly age?: number;
  readonly dueIn: number | null;
  readonly isDueSaid?: true;
  readonly took: number;
  readonly maxStaleness?: number | null;
  readonly tags?: readonly string[];
  /** Of what follows the line, in UTF-16 code units. */
  readonly length: number;
}

/** A value as its codec has encoded it. */
interface EncodedBody {
  readonly format: string;
  readonly text: string;
  readonly isText: boolean;
}

/** Encodes the value of a snapshot. Rejects with the error of the codec. */
export async function encodeBody(value: unknown, isAbsent: boolean, codec: Codec): Promise<EncodedBody> {
  const body = isAbsent ? '' : await codec.encode(value);
  const isText = typeof body === 'string';
  if (!isText && !ArrayBuffer.isView(body)) throw new TypeError('encode() must return text or a Uint8Array');
  return { format: formatOf(codec), text: isText ? body : toBase64(body), isText };
}

/** The whole text of a snapshot. The age in the metadata is that of the moment of the write. */
export function withMetadata(
  { format, text, isText }: EncodedBody,
  { isAbsent, age, dueIn, isDueTimeOverridden, took, maxStaleness, tags }: Omit<Snapshot, 'value'>,
  { kind, name }: SnapshotMaker,
): string {
  const header: Header = {
    tickless: ENVELOPE,
    format,
    kind,
    name,
    ...(isText ? {} : { isBase64: true }),
    ...(isAbsent ? { isAbsent } : {}),
    age,
    dueIn: orNull(dueIn),
    ...(isDueTimeOverridden ? { isDueSaid: true } : {}),
    took,
    ...(maxStaleness === undefined ? {} : { maxStaleness: orNull(maxStaleness) }),
    ...(tags === undefined ? {} : { tags }),
    length: text.length,
  };
  const line = JSON.stringify(header).slice(0, -1);
  return `${line}${sealOf(line, text)}\n${text}`;
}

/**
 * Reads a snapshot. Rejects with an `Error` that names the reason: not a snapshot, damaged, of another format,
 * refused by the codec or the schema.
 */
export async function decodeSnapshot(
  payload: string,
  { codec, schema }: { readonly codec: Codec } & Pick<SnapshotStore, 'schema'>,
  reader: SnapshotMaker,
): Promise<Snapshot> {
  const end = payload.indexOf('\n');
  const line = payload.slice(0, end);
  const body = payload.slice(end + 1);
  const header = readHeader(line);
  checkWhole(header, line, body);
  checkMaker(header, reader);
  if (header.format !== formatOf(codec)) {
    const [written, read] = [header.format, formatOf(codec)].map(showKey);
    throw new Error(`it is of the format ${written}, and the codec reads ${read}`);
  }
  const { isAbsent = false, isDueSaid = false, age = 0, took, tags } = header;
  const about = {
    isAbsent,
    isDueTimeOverridden: isDueSaid,
    age,
    took,
    tags,
    dueIn: header.dueIn ?? Infinity,
    maxStaleness: header.maxStaleness === null ? Infinity : header.maxStaleness,
  };
  if (isAbsent) return { ...about, value: undefined };
  let value: unknown;
  try {
    value = await codec.decode(header.isBase64 ? fromBase64(body) : body);
  } catch (cause) {
    throw new UndecodableError(`the codec can't decode it: ${messageOf(cause)}`, { cause });
  }
  if (schema === undefined) return { ...about, value };
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return { ...about, value: result.value };
  throw new Error(`the schema refuses it: ${showIssues(result.issues)}`);
}

/** A schema may report an issue for each of a million elements. */
const MAX_ISSUES = 8;

function showIssues(issues: readonly { readonly message: string }[]): string {
  const messages = issues.slice(0, MAX_ISSUES).map(({ message }) => message);
  const more = issues.length - messages.length;
  return messages.join('; ') + (more > 0 ? `; and ${more} more` : '');
}

/** Throws if another member has made it: two of one name share the store. */
function checkMaker({ kind, name }: Header, reader: SnapshotMaker): void {
  if ((kind ?? reader.kind) === reader.kind && (name ?? reader.name) === reader.name) return;
  const [maker, own] = [showMaker(kind, name), showMaker(reader.kind, reader.name)];
  throw new Error(`it was made by ${maker}, not by ${own}; use another name or a namespace`);
}

function showMaker(kind: SnapshotMaker['kind'] | undefined, name: string | undefined): string {
  return `${kind === 'key' ? 'the key' : 'the value'} ${showKey(name)}`;
}

/** Throws if anything was cut off, added or changed since the write. */
function checkWhole({ length }: Header, line: string, body: string): void {
  if (body.length !== length)
    throw new UndecodableError(`it is ${body.length} characters long, and was ${length}`);
  if (line.slice(-SEAL_LENGTH) !== sealOf(line.slice(0, -SEAL_LENGTH), body)) {
    throw new UndecodableError('its checksum is wrong: it was damaged, or edited by hand');
  }
}

function readHeader(line: string): Header {
  let header: Partial<Header> | null = null;
  try {
    if (line.startsWith(BEGINNING)) header = JSON.parse(line) as Partial<Header> | null;
  } catch {
    // not JSON
  }
  if (typeof header?.tickless !== 'number') throw new UndecodableError('it is not a snapshot of tickless');
  if (header.tickless !== ENVELOPE) throw new Error(`it is of version ${header.tickless} of the envelope`);
  const { format, age = 0, dueIn, took, maxStaleness = null, tags = [] } = header;
  const isWhole =
    typeof format === 'string' &&
    (dueIn === null || isNumber(dueIn, -Number.MAX_VALUE, Number.MAX_VALUE)) &&
    isNumber(age, 0, Number.MAX_VALUE) &&
    isNumber(took, 0, Number.MAX_VALUE) &&
    (maxStaleness === null || isNumber(maxStaleness, Number.MIN_VALUE, Number.MAX_VALUE)) &&
    [undefined, true].includes(header.isAbsent) &&
    [undefined, 'value', 'key'].includes(header.kind) &&
    ['undefined', 'string'].includes(typeof header.name) &&
    isNumber(header.length, 0, Number.MAX_SAFE_INTEGER) &&
    Array.isArray(tags) &&
    tags.every((tag) => typeof tag === 'string');
  if (!isWhole) throw new UndecodableError('its envelope is damaged');
  return header as Header;
}

function formatOf({ format = 'custom' }: Codec): string {
  return format;
}

function orNull(number: number): number | null {
  return number === Infinity ? null : number;
}

/** The number of bytes per call: a call takes a bounded number of arguments. */
const CHUNK = 0x8000;

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(binary);
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

import { systemClock } from '../../time/clock.ts';
import { overLimit } from '../byte-limit.ts';
import type { SourceMeta } from '../source.ts';
import { type FileState, type FileSystem, fileSystem, type OpenFile } from './file-system.ts';

/** A file that was not changed while it was read. */
export interface Edition {
  readonly bytes: Uint8Array;
  readonly state: FileState;
  /** The wall clock before it was read, in epoch milliseconds. */
  readonly readAt: number;
}

interface ReadEdition extends Edition {
  /** It has as many bytes as its size says. */
  readonly isWhole: boolean;
}

/** How long to wait before it is read again, in milliseconds. */
const PAUSES = [10, 20, 40, 80, 160];

/** Between two parts of what a program writes less time passes, in milliseconds. */
const QUIET_MS = 50;

/** Bytes of one step, between which the signal is looked at. */
const STEP = 1 << 22;

/**
 * Reads a whole file. One that changes meanwhile, or was changed a moment before, is read again, six times in all within 0.4 s.
 *
 * @throws anything but a regular file, or one with more bytes; errors of the file system. Without the name of the file.
 */
export async function readEdition(
  path: string | URL,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Edition> {
  const fs = fileSystem();
  let before: ReadEdition | undefined;
  for (const pause of [...PAUSES, undefined]) {
    const edition = await readOnce(fs, path, maxBytes, signal);
    if (edition !== undefined && (edition.isWhole || isSame(edition, before))) {
      if (isQuiet(edition) || (pause === undefined && isReplacement(edition, before))) return edition;
    }
    if (pause !== undefined) await pass(pause);
    before = edition;
  }
  throw new Error(
    `was changed each of the ${PAUSES.length + 1} times that it was read: write a new file beside it, and rename that`,
  );
}

/** @throws when it is not a regular file. */
export function mustBeFile(state: FileState): void {
  if (state.isFile()) return;
  throw new Error(`is ${state.isDirectory() ? 'a directory' : 'a device, a pipe or a socket'}, not a file`);
}

/** @returns `undefined`: it was changed. */
async function readOnce(
  { constants, open }: FileSystem,
  path: string | URL,
  maxBytes: number,
  signal: AbortSignal,
): Promise<ReadEdition | undefined> {
  const { O_RDONLY = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants;
  // A pipe that has come to its place since is neither waited for nor read. Links are followed: a mounted file is one.
  const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  try {
    const readAt = systemClock.now();
    const state = await file.stat({ bigint: true });
    mustBeFile(state);
    if (state.size > maxBytes) throw new Error(overLimit(maxBytes));
    const bytes = await readBytes(file, Number(state.size), maxBytes, signal);
    const after = await file.stat({ bigint: true });
    const isWhole = bytes.length === Number(after.size) || after.size === 0n; // files of /proc have the size 0
    const isUnchanged = after.mtimeNs === state.mtimeNs && after.size === state.size;
    return isUnchanged ? { bytes, state, readAt, isWhole } : undefined;
  } finally {
    await file.close();
  }
}

/** Twice the same, unchanged: a file whose size says nothing, as those of /sys have that of a page. */
function isSame({ bytes, state }: ReadEdition, before: ReadEdition | undefined): boolean {
  if (before === undefined || before.isWhole || before.bytes.length !== bytes.length) return false;
  const hasSameTimes = before.state.ino === state.ino && before.state.mtimeNs === state.mtimeNs;
  return hasSameTimes && bytes.every((byte, at) => byte === before.bytes[at]);
}

/** It is another file than the one before, as of a writer that renames whole ones: not one that is still being written. */
function isReplacement({ state }: Edition, before: Edition | undefined): boolean {
  if (before === undefined) return false;
  // The inode of a file that was replaced is soon used again.
  return before.state.ino !== state.ino || before.state.birthtimeNs !== state.birthtimeNs;
}

/** Its writer is done, as far as times tell. With a clock ahead of ours, the file system's do not. */
function isQuiet({ state, readAt }: Edition): boolean {
  const passed = readAt - editedAtOf(state);
  return passed < 0 || passed >= QUIET_MS;
}

/** Up to the end of the file, wherever that is by now. */
async function readBytes(
  file: OpenFile,
  size: number,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  let buffer = new Uint8Array(size + 1); // room for the byte that should not be there
  let end = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(buffer, end, Math.min(buffer.length - end, STEP), null);
    end += bytesRead;
    if (end > maxBytes) throw new Error(overLimit(maxBytes));
    if (bytesRead === 0) return buffer.subarray(0, end);
    if (end < buffer.length) continue;
    const larger = new Uint8Array(Math.min(maxBytes + 1, 2 * buffer.length + STEP));
    larger.set(buffer);
    buffer = larger;
  }
}

async function pass(ms: number): Promise<void> {
  await new Promise<void>((resolve) => systemClock.setTimeout(resolve, ms).ref());
}

/**
 * Two changes within one tick of the clock of a file system leave the same times: of 2 s on FAT, of some milliseconds elsewhere. A
 * file that was changed so recently before it was read is read again by the next load.
 */
const TICK_MS = 2000;

/** Notes that distinguish an edition of a file from another one. */
interface FileNotes extends SourceMeta {
  readonly size: number;
  readonly inode: string;
  /** Times of the last change, of the contents and of anything, in nanoseconds. Not present: it was too recent, or says nothing. */
  readonly mtimeNs?: string;
  readonly ctimeNs?: string;
}

/**
 * @param readAt the wall clock before the file was read, in epoch milliseconds.
 * @param length of the file that was read, in bytes. Where the size is another one, as in /proc and /sys, the times say nothing either.
 */
export function fileNotes(source: string, state: FileState, readAt: number, length: number): FileNotes {
  const editedAt = editedAtOf(state);
  const isOver = readAt - editedAt >= TICK_MS && length === Number(state.size);
  return { source, editedAt, ...identity(state), ...(isOver && times(state)) };
}

/** The time of change, in epoch milliseconds. */
function editedAtOf({ mtimeNs }: FileState): number {
  return Math.round(Number(mtimeNs / 1000n) / 1000);
}

/** The file is as it was when these notes were made. */
export function isSameEdition(notes: SourceMeta | undefined, state: FileState): boolean {
  if (notes === undefined) return false;
  return Object.entries({ ...identity(state), ...times(state) }).every(([name, now]) => notes[name] === now);
}

function identity({ size, ino }: FileState): { readonly size: number; readonly inode: string } {
  return { size: Number(size), inode: String(ino) };
}

function times({ mtimeNs, ctimeNs }: FileState): { readonly mtimeNs: string; readonly ctimeNs: string } {
  return { mtimeNs: String(mtimeNs), ctimeNs: String(ctimeNs) };
}

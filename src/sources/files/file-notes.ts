import type { SourceMeta } from '../source.ts';
import type { FileState } from './file-system.ts';

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
export function editedAtOf({ mtimeNs }: FileState): number {
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

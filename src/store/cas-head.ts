import type { Parts } from './cas-parts.ts';

/** One version of a snapshot. */
export interface Edition {
  readonly version: number;
  /** By the backend's clock, in epoch milliseconds: not later than it was. */
  readonly writtenAt: number;
  /** Of the payload. */
  readonly bytes: number;
  /** The payload. */
  readonly text?: string | undefined;
  /** Where the payload is, if it is not the text. */
  readonly parts?: Parts | undefined;
}

/** The present version of a name, and those before it that are kept, newest first. */
export interface Head extends Edition {
  readonly older: readonly Edition[];
  /** It is not kept as an older version. */
  readonly isBrief?: boolean | undefined;
}

/** Newest first. */
export function editionsOf({ older, isBrief: _, ...present }: Head): readonly Edition[] {
  return [present, ...older];
}

/**
 * The head after a write.
 *
 * @param keepVersions how many versions it has at most; `undefined`: none but the new one, which is brief.
 */
export function nextHead(
  head: Head | 'damaged' | undefined,
  edition: Edition,
  keepVersions: number | undefined,
): Head {
  if (keepVersions === undefined) return { ...edition, older: [], isBrief: true };
  if (head === undefined || head === 'damaged') return { ...edition, older: [] };
  const before = head.isBrief === true ? head.older : editionsOf(head);
  const older = before.filter(({ version }) => version < edition.version).slice(0, keepVersions - 1);
  return { ...edition, older };
}

/** @returns `undefined` if there is none; 'damaged' if the text is not a head. */
export function headIn(text: string | undefined): Head | 'damaged' | undefined {
  if (text === undefined) return undefined;
  try {
    const head = JSON.parse(text);
    const isHead = Array.isArray(head.older) && [head, ...head.older].every(isEdition);
    return isHead ? head : 'damaged';
  } catch {
    return 'damaged';
  }
}

function isEdition({ version, writtenAt, text, parts }: Edition): boolean {
  const isWhole = parts === undefined ? typeof text === 'string' : Number.isSafeInteger(parts.count);
  return typeof version === 'number' && typeof writtenAt === 'number' && isWhole;
}

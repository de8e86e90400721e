import type { Mark } from './mark.ts';

/**
 * The origin of a version: `load`: a load; `set`: `set`; `rollback`, `unpin`; `invalidate`: a mark of it.
 */
export type VersionMaker = 'load' | 'set' | 'rollback' | 'unpin' | 'invalidate';

/** A version of a snapshot that a store has, without its value. */
export interface VersionRecord {
  /** Grows with each write of the name. */
  readonly version: number;
  /** Milliseconds since the write, by the backend's clock. 0 if the version is damaged. */
  readonly age: number;
  /** The length of its payload in bytes of UTF-8. */
  readonly bytes: number;
  /** The process that published it, as lock records name theirs; `undefined`: the payload does not tell. */
  readonly owner: string | undefined;
  /** The host of that process, for people. */
  readonly host: string | undefined;
  /** Its origin; `undefined`: the payload does not tell, as of earlier versions of the library. */
  readonly made?: VersionMaker | undefined;
  /** The person or tool that had it published; `undefined`: a load did, or one that was not named. */
  readonly by: string | undefined;
  /** Why, in the words of that person. */
  readonly note: string | undefined;
  /** A person has pinned it, and the `hold` of that is not over: see `rollback`. */
  readonly isPinned: boolean;
  /** It is a mark of `invalidate`, and has no value. @default undefined: it has one */
  readonly mark?: Mark | undefined;
  /** Why the version can't be read. @default undefined: it is readable */
  readonly damage?: string | undefined;
}

/** The origin of a version in words, with the person and the host. */
export function makerText({ made, by, host }: Pick<VersionRecord, 'made' | 'by' | 'host'>): string {
  const what =
    made === undefined ? by : made === 'load' ? undefined : made + (by === undefined ? '' : ` by ${by}`);
  return `${what ?? 'a load'}${host === undefined ? '' : ` on ${host}`}`;
}

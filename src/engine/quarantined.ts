import { contentDigest } from '../data/content-digest.ts';

/** A loaded value that the guard or the schema refused, for people to decide on. */
export interface QuarantineStatus<T = unknown> {
  /** Why it was refused. */
  readonly reason: string;
  /** Since when all loaded values were refused, without one that was accepted in between. Epoch milliseconds. */
  readonly since: number;
  /** When this one was loaded. Epoch milliseconds. */
  readonly loadedAt: number;
  /** The number of its elements, or by the `sizeOf` of the guard; `undefined`: unknown. */
  readonly size: number | undefined;
  /** Why it is not kept, and can't be accepted: too large, or refused by the schema. Not present: it is kept. */
  readonly note?: string;
  /**
   * Names what was refused, for `acceptQuarantined({ digest })`: the same for equal content. It is computed when it is read, which
   * takes a while for a large value, and is not enumerable: neither a copy nor JSON has it.
   */
  readonly digest: string;
  /** The `idOf` of the guard or of the source, by which tools compare it with the value in place. Not enumerable. */
  readonly idOf?: ((element: never) => unknown) | undefined;
  /** The refused value itself; not present where it is not kept, and with `values: false`. */
  readonly value?: T;
}

/** The refused value that a person has looked at, before a decision on it. */
export interface SeenQuarantine {
  /**
   * The `digest` of the refused value that was looked at: another one that was refused since is left alone. @default undefined:
   * whatever was refused last
   */
  readonly digest?: string | undefined;
}

/** The last refused value of an entry, until another one takes its place. */
export interface Quarantined<T> {
  readonly status: Omit<QuarantineStatus, 'value' | 'digest' | 'idOf'>;
  /** The size of the value that it would have replaced. `undefined`: unknown, or there was none. */
  readonly previousSize?: number | undefined;
  /** `undefined`: it is not kept. */
  readonly candidate:
    | {
        readonly value: T;
        readonly tags: readonly string[] | undefined;
        readonly idOf: QuarantineStatus['idOf'];
      }
    | undefined;
}

/** Of a value that is not kept, what is known of it has been seen. */
export function digestOf({ candidate, status: { reason, size } }: Quarantined<unknown>): string {
  return contentDigest(candidate === undefined ? [reason, size] : candidate.value);
}

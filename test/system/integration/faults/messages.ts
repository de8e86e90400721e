// What an instance is told, and what it tells.

/** How the loads of an instance behave. */
export interface Behaviour {
  /** Milliseconds that a load takes, drawn when it begins. */
  readonly loadFor: readonly [least: number, most: number];
  /**
   * What becomes of it after that time. `hangs`: it goes on until its signal is aborted. `is deaf`: it goes on for ever,
   * whatever its signal says.
   */
  readonly load: 'returns' | 'throws' | 'hangs' | 'is deaf';
  /** Milliseconds that a write lies on its way to the store, after all that the instance asks before it. */
  readonly writeHeldFor: number;
}

/** What the value of an instance is made with. Durations in milliseconds. */
export interface Settings {
  /** The name of the value, the same for all. */
  readonly name: string;
  /** Of the server, or of a proxy before it; the path of the file or folder. */
  readonly url: string;
  readonly period: number;
  readonly leaseFor: number;
  /** Of one step of the lock or the store. */
  readonly stepTimeout: number;
  readonly coolDown: number | { readonly initial: number; readonly factor: number; readonly max: number };
  /** Of a load. */
  readonly loadTimeout: number;
  readonly whenBackendDown: 'load' | 'skip';
  readonly behaviour: Behaviour;
}

/** What an instance is told. */
export type Order =
  | { readonly kind: 'begin'; readonly settings: Settings }
  | { readonly kind: 'behave'; readonly behaviour: Partial<Behaviour> }
  | { readonly kind: 'end' };

/** What is served: which load of the source it is. */
export interface Loaded {
  /** When its load had ended, on the machine's monotonic clock, which all processes share. */
  readonly stamp: number;
  /** The fencing token of its load; 0: it was loaded without the lock. */
  readonly token: number;
}

/** What the reader of an instance has met so far. */
export interface Reading {
  readonly reads: number;
  /** Longest time that a read took, in milliseconds: of one that was answered on the spot its processor time. */
  readonly longestWait: number;
  /** The greatest age of what was read. */
  readonly oldest: number;
  /** By how much a timer of 10 ms was late: how noisy the machine is. */
  readonly longestLag: number;
}

/** What is asked of a lock or a store. */
export type Step = 'acquire' | 'extend' | 'release' | 'read' | 'write';

/** What an instance tells; `at` on the machine's monotonic clock, in milliseconds. */
export type Told = { readonly at: number } & (
  | { readonly kind: 'ready' /** Its wall clock, epoch milliseconds. */; readonly wall: number }
  | { readonly kind: 'ended' }
  /** It has its first value. */
  | { readonly kind: 'began'; readonly after: number }
  | { readonly kind: 'load-started'; readonly token: number }
  | {
      readonly kind: 'load-ended';
      readonly token: number;
      readonly outcome: 'returned' | 'threw' | 'aborted';
    }
  /** An event of the value. */
  | {
      readonly kind: 'event';
      readonly type: string;
      readonly token?: number;
      readonly version?: number;
      readonly error?: string;
    }
  /** It begins to lie on its way. */
  | { readonly kind: 'write-held'; readonly token: number }
  /** A step of the lock or the store that was answered, or failed. */
  | {
      readonly kind: 'step';
      readonly step: Step;
      readonly name: string;
      /** Of a read the version that was found. */
      readonly token?: number;
      readonly answer: string;
      readonly begunAt: number;
      readonly took: number;
    }
  /** The reader sees another value. */
  | ({ readonly kind: 'saw' } & Loaded)
  | { readonly kind: 'read-failed' | 'read-waited' | 'went-back'; readonly what: string }
  | { readonly kind: 'reading'; readonly reading: Reading }
);

/** Told without what is the same for all. */
export type Telling = Told extends infer T ? (T extends Told ? Omit<T, 'at'> : never) : never;

/** The machine's monotonic clock in milliseconds; no wall clock can be faked in it. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

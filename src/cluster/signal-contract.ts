import type { ResolvedOptions } from '../engine/resolved-options.ts';

/** Ends a listening. Its errors are dropped. */
export type StopListening = () => unknown;

/**
 * Carries short texts to all instances of a cluster, as well as it can: publish and subscribe of a server, a message broker.
 * `createSignals` makes {@link Signals} of it.
 */
export interface SignalBus {
  /**
   * Sends a text of less than 200 bytes to all instances that listen; this one may be among them. One call at a time. Where
   * it throws or rejects, or takes longer than the `timeout` of the store, that is logged, and the signal may be lost.
   */
  send(text: string): unknown;
  /**
   * Begins to listen. Called while no listening is under way; again at a later check of the store where it throws or rejects,
   * and after `onEnd`. A promise that never settles is waited for.
   *
   * @param onMessage to be called with each text that arrives; also with those of others, and as often as it arrives.
   * @param onEnd to be called when it ends by itself: the connection is lost, and does not come back by itself.
   * @returns the function that ends it, or a promise of that.
   */
  listen(
    onMessage: (text: string) => void,
    onEnd: (cause?: unknown) => void,
  ): StopListening | PromiseLike<StopListening>;
}

/** The member whose log is used. */
export interface SignalMember {
  readonly options: Pick<ResolvedOptions, 'clock' | 'logger'>;
}

/** The store that uses signals. */
export interface SignalHost {
  /** How long a signal may take to be sent, in milliseconds. */
  readonly limitMs: number;
  /** Plans a check of the store within that time, for the next read. */
  checkWithin(ms: number): void;
  /** How many instances use the store; 0: none has left a report. Rejects where the store does not answer. */
  countInstances(member: SignalMember): Promise<number>;
}

/** The signals of one store object. */
export interface SignalPort {
  /** A signal from elsewhere leads to a check from now on. Does nothing while it listens. */
  listen(member: SignalMember): void;
  stop(): void;
  /** Tells the other instances that something has changed. Never throws. */
  send(member: SignalMember): void;
}

/** Signals for backends, of `createSignals`. Several backends may use one object. */
export interface Signals {
  /** Called once by each backend that is given them. @internal */
  portOf(host: SignalHost): SignalPort;
}

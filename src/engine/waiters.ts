import type { Clock } from '../time/clock.ts';
import { Deferred, ignoreRejection } from '../time/deferred.ts';

/** A load under way, as far as those who wait for it are concerned. See `flight.ts`. */
export interface LoadHandle {
  /** It has made its first try, or is over: it waits for no turn. */
  readonly hasBegun: boolean;
  /** Makes the first try now, on the caller's stack, should it still wait for its turn behind somebody. */
  depart(): void;
  /** Somebody waits: until the matching {@link release}, its timers keep the process alive. */
  hold(): void;
  release(): void;
  /** Ends it from outside: the load is aborted with `reason`, and what it brings is late. */
  end(reason: Error): void;
}

/** Who can give up waiting; forgotten at once when he does, however long the load takes. */
interface CancellableWaiter<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/**
 * All who wait for the next value of an entry. They outlive a load that is superseded; its successor settles them.
 *
 * Readers that can't give up share one promise. Those with a signal or with patience are kept one by one, so that
 * they can leave; there is one listener per signal, however many readers share it.
 */
export class Waiters<T> {
  #load: LoadHandle | undefined;
  #shared: Deferred<T> | undefined;
  /** For those who only want to know when it is over: `waitUntil`. */
  #end: Deferred<void> | undefined;
  readonly #leavers: Set<CancellableWaiter<T>> = new Set();
  readonly #signals: Map<AbortSignal, Set<() => void>> = new Map();

  constructor(load: LoadHandle | undefined) {
    this.#load = load;
  }

  /** From now on they wait for another load, or, as they are about to be settled, for none. */
  follow(load: LoadHandle | undefined): void {
    this.#load = load;
    if (this.isHeld) load?.hold();
  }

  /** Somebody will get the value or the error. */
  get hasReaders(): boolean {
    return this.#shared !== undefined || this.#leavers.size > 0;
  }

  /** Somebody, a reader or a platform, wants the process to live until the load has ended. */
  get isHeld(): boolean {
    return this.hasReaders || this.#end !== undefined;
  }

  /** The next value. @param signal ends this wait only: rejects with its reason. */
  next(signal: AbortSignal | undefined): Promise<T> {
    if (signal !== undefined) return this.#wait(signal, undefined);
    return this.#join(() => {
      this.#shared ??= new Deferred();
      return this.#shared.promise;
    });
  }

  /** The next value, but no longer than patience lasts: then it resolves with `undefined`. */
  nextWithin(patienceMs: number, clock: Clock, signal: AbortSignal | undefined): Promise<T | undefined> {
    return this.#wait(signal, (giveUp) => {
      if (patienceMs === Infinity) return undefined;
      const timer = clock.setTimeout(giveUp, patienceMs);
      timer.ref();
      return timer;
    });
  }

  /** Resolves when the load under way has ended, or was superseded with nobody reading. Never rejects. */
  end(): Promise<void> {
    return this.#join(() => {
      this.#end ??= new Deferred();
      return this.#end.promise;
    });
  }

  /** @param settled what a platform has to wait for besides: readers do not. */
  resolve(value: T, settled?: Promise<void>): void {
    this.#settle((waiter) => waiter.resolve(value), settled);
  }

  reject(error: unknown, settled?: Promise<void>): void {
    this.#settle((waiter) => waiter.reject(error), settled);
  }

  #settle(
    settle: (waiter: CancellableWaiter<T> | Deferred<T>) => void,
    settled: Promise<void> | undefined,
  ): void {
    if (this.#shared !== undefined) settle(this.#shared);
    for (const leaver of [...this.#leavers]) settle(leaver);
    if (settled === undefined) this.#end?.resolve();
    else void settled.then(() => this.#end?.resolve());
  }

  #join<R>(join: () => R): R {
    const wasHeld = this.isHeld;
    const joined = join();
    if (!wasHeld) this.#load?.hold();
    return joined;
  }

  #wait<R extends T | undefined>(
    signal: AbortSignal | undefined,
    startTimer: ((giveUp: () => void) => { cancel(): void } | undefined) | undefined,
  ): Promise<R> {
    const wait = new Promise<R>((resolve, reject) => {
      const leave = (end: () => void): void => {
        timer?.cancel();
        if (signal !== undefined) this.#unlisten(signal, abandon);
        this.#leavers.delete(leaver);
        if (!this.isHeld) this.#load?.release();
        end();
      };
      const abandon = (): void => leave(() => reject(signal?.reason));
      const leaver: CancellableWaiter<T> = {
        resolve: (value) => leave(() => resolve(value as R)),
        reject: (error) => leave(() => reject(error)),
      };
      this.#join(() => this.#leavers.add(leaver));
      const timer = startTimer?.(() => leave(() => resolve(undefined as R)));
      if (signal?.aborted) abandon();
      else if (signal !== undefined) this.#listen(signal, abandon);
    });
    return ignoreRejection(wait);
  }

  #listen(signal: AbortSignal, abandon: () => void): void {
    let all = this.#signals.get(signal);
    if (all === undefined) {
      all = new Set();
      this.#signals.set(signal, all);
      signal.addEventListener('abort', this.#onAbort);
    }
    all.add(abandon);
  }

  #unlisten(signal: AbortSignal, abandon: () => void): void {
    const all = this.#signals.get(signal);
    if (!all?.delete(abandon) || all.size > 0) return;
    this.#signals.delete(signal);
    signal.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (event: Event): void => {
    for (const abandon of [...(this.#signals.get(event.target as AbortSignal) ?? [])]) abandon();
  };
}

import type { Clock } from '../time/clock.ts';
import { Deferred, ignoreRejection } from '../time/deferred.ts';
import { onAbort } from '../time/on-abort.ts';
import type { LoadHandle } from './load-handle.ts';

type Waiter<T> = Pick<Deferred<T>, 'resolve' | 'reject'>;

/** How long a reader may wait that has to wait for two loads, one after the other. */
export interface WaitLimit {
  readonly clock: Clock;
  /** `Infinity`: none. */
  readonly ms: number;
  /** The error of a reader that has waited for longer. */
  readonly error: () => Error;
}

/**
 * The waiters for the next value of an entry: those of one load.
 *
 * Readers that can't give up share one promise. Those with a signal, with patience or with a limit are kept one by one,
 * and are forgotten at once when they give up.
 */
export class Waiters<T> {
  #load: LoadHandle | undefined;
  #limit: WaitLimit | undefined;
  #shared: Deferred<T> | undefined;
  /** For callers that only need to know when it is over: `waitUntil`. */
  #end: Deferred<void> | undefined;
  /** Called when the last reader has given up before its load has ended. */
  onAbandoned: (() => void) | undefined = undefined;
  /** Made for the first of them: most loads are awaited by plain readers only. */
  #cancellable: Set<Waiter<T>> | undefined;

  /** @param limit of the readers that join before {@link follow}: they wait for the end of `load`, then for its successor. */
  constructor(load: LoadHandle | undefined, limit?: WaitLimit) {
    this.#load = load;
    this.#limit = limit;
  }

  /** From now on they wait for another load, or for none, as they are about to be settled. */
  follow(load: LoadHandle | undefined): void {
    if (this.keepsAlive) {
      load?.ref();
      this.#load?.unref();
    }
    this.#load = load;
    this.#limit = undefined;
  }

  /** A reader will get the value or the error. */
  get hasReaders(): boolean {
    return this.#shared !== undefined || (this.#cancellable?.size ?? 0) > 0;
  }

  /** The process is to live until the load has ended: a reader or a platform waits. */
  get keepsAlive(): boolean {
    return this.hasReaders || this.#end !== undefined;
  }

  /** The next value. @param signal ends this wait only: rejects with its reason. @param own the limit of this reader. */
  next(signal: AbortSignal | undefined, own?: WaitLimit): Promise<T> {
    const limit = own !== undefined && own.ms < (this.#limit?.ms ?? Infinity) ? own : this.#limit;
    if (limit !== undefined) return this.#waitWithin(signal, limit);
    if (signal !== undefined) return this.#wait(signal);
    const keptAlive = this.keepsAlive;
    this.#shared ??= new Deferred();
    if (!keptAlive) this.#load?.ref();
    return this.#shared.promise;
  }

  /** The next value; resolves with `undefined` when patience ends before. */
  nextWithin(patienceMs: number, clock: Clock, signal: AbortSignal | undefined): Promise<T | undefined> {
    const ms = Math.min(patienceMs, this.#limit?.ms ?? Infinity);
    return this.#wait<T | undefined>(signal, { clock, ms }, (waiter) => waiter.resolve(undefined));
  }

  /** Resolves when the load under way has ended, or was superseded while no reader waited. Never rejects. */
  end(): Promise<void> {
    return this.#join(() => {
      this.#end ??= new Deferred();
      return this.#end.promise;
    });
  }

  /** All of the others wait as one of these from now on. */
  absorb(others: Waiters<T>): void {
    this.#join(() => this.#add(others));
  }

  /** @param settled a platform waits for this too; readers do not. */
  resolve(value: T, settled?: Promise<void>): void {
    this.#settle((waiter) => waiter.resolve(value), settled);
  }

  reject(error: unknown, settled?: Promise<void>): void {
    this.#settle((waiter) => waiter.reject(error), settled);
  }

  #settle(settle: (waiter: Waiter<T>) => void, settled: Promise<void> | undefined): void {
    if (this.#shared !== undefined) settle(this.#shared);
    if (this.#cancellable !== undefined) for (const waiter of [...this.#cancellable]) settle(waiter);
    if (settled === undefined) this.#end?.resolve();
    else void settled.then(() => this.#end?.resolve());
  }

  #add(waiter: Waiter<T>): void {
    this.#cancellable ??= new Set();
    this.#cancellable.add(waiter);
  }

  #join<R>(join: () => R): R {
    const keptAlive = this.keepsAlive;
    const joined = join();
    if (!keptAlive) this.#load?.ref();
    return joined;
  }

  #waitWithin(signal: AbortSignal | undefined, limit: WaitLimit): Promise<T> {
    return this.#wait(signal, limit, (waiter) => waiter.reject(limit.error()));
  }

  #wait<R extends T | undefined>(
    signal: AbortSignal | undefined,
    limit?: Omit<WaitLimit, 'error'>,
    expire?: (waiter: Waiter<R>) => void,
  ): Promise<R> {
    const wait = new Promise<R>((resolve, reject) => {
      let unlisten: (() => void) | undefined;
      const leave = (end: () => void): void => {
        timer?.cancel();
        unlisten?.();
        this.#cancellable?.delete(waiter as Waiter<T>);
        if (!this.keepsAlive) this.#load?.unref();
        end();
        if (this.#load !== undefined && !this.hasReaders) this.onAbandoned?.();
      };
      const abandon = (): void => leave(() => reject(signal?.reason));
      const waiter: Waiter<R> = {
        resolve: (value) => leave(() => resolve(value)),
        reject: (error) => leave(() => reject(error)),
      };
      this.#join(() => this.#add(waiter as Waiter<T>));
      const hasTimer = limit !== undefined && limit.ms < Infinity;
      const end = (): void => {
        if (this.#cancellable?.has(waiter as Waiter<T>)) expire?.(waiter);
      };
      const timer = hasTimer && limit.ms > 0 ? limit.clock.setTimeout(end, limit.ms) : undefined;
      timer?.ref();
      if (limit?.ms === 0) queueMicrotask(end); // a synchronous load has settled by then
      if (signal?.aborted) abandon();
      else if (signal !== undefined) unlisten = onAbort(signal, abandon);
    });
    return ignoreRejection(wait);
  }
}

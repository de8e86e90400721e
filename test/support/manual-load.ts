import type { LoadContext } from '../../src/index.ts';

/** One call of a {@link ManualLoad}, waiting for the test to say how it ends. */
export interface ManualCall<T> {
  readonly context: LoadContext;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Whether a load ends with its signal, or ignores it; `no-matter`: it ignores it, and does not count as live any more. */
type WhenAborted = 'rejects' | 'goes-on' | 'no-matter';

/** A load that ends when the test says so, and counts how many of its calls are live at once. */
export class ManualLoad<T> {
  readonly calls: ManualCall<T>[] = [];
  live = 0;
  mostLive = 0;
  readonly #whenAborted: WhenAborted;

  constructor(whenAborted: WhenAborted = 'no-matter') {
    this.#whenAborted = whenAborted;
  }

  readonly load = (context: LoadContext): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      this.live += 1;
      this.mostLive = Math.max(this.mostLive, this.live);
      let isLive = true;
      const end = (): void => {
        if (isLive) this.live -= 1;
        isLive = false;
      };
      const abort = (): void => {
        end();
        if (this.#whenAborted === 'rejects') reject(context.signal.reason);
      };
      if (this.#whenAborted !== 'goes-on') context.signal.addEventListener('abort', abort, { once: true });
      this.calls.push({
        context,
        resolve: (value) => {
          end();
          resolve(value);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      });
    });

  /** The call of that number, counted from 0; -1 is the last. Throws when there was none. */
  call(index: number): ManualCall<T> {
    const call = this.calls.at(index);
    if (call === undefined) throw new Error(`the load was called ${this.calls.length} times`);
    return call;
  }
}

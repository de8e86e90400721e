import type { LoadContext } from '../../src/index.ts';

/** One call of a {@link ManualLoad}, waiting for the test to say how it ends. */
export interface ManualCall<T> {
  readonly context: LoadContext;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** A load that ends when the test says so, and counts how many of its calls are live at once. */
export class ManualLoad<T> {
  readonly calls: ManualCall<T>[] = [];
  live = 0;
  mostLive = 0;

  readonly load = (context: LoadContext): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      this.live += 1;
      this.mostLive = Math.max(this.mostLive, this.live);
      let isLive = true;
      const end = (): void => {
        if (isLive) this.live -= 1;
        isLive = false;
      };
      // An aborted load has lost its slot: it is not live any more, even if it never settles.
      context.signal.addEventListener('abort', end, { once: true });
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

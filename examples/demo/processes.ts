import { Child } from './child.ts';

/** What has to be ended before the demo ends, however it ends. */
export class Processes {
  readonly #children: Child<unknown, never>[] = [];
  readonly #ends: (() => unknown)[] = [];

  /** Starts a process of the demo. @param file beside this one. */
  start<Report, Event = never>(file: string, ...args: (string | number)[]): Child<Report, Event> {
    const child = new Child<Report, Event>(file, args);
    this.#children.push(child);
    return child;
  }

  /** Has something else done at the end, when the processes are gone. */
  beforeEnd(end: () => unknown): void {
    this.#ends.push(end);
  }

  /** Ends all, then this process. */
  async end(exitCode: number): Promise<never> {
    await Promise.all(this.#children.map((child) => child.end()));
    await Promise.all(this.#ends.map((end) => end()));
    process.exit(exitCode);
  }

  /** Ends all when this process is told to, or left alone. */
  endWhenTold(): void {
    for (const [signal, number] of [
      ['SIGHUP', 1],
      ['SIGINT', 2],
      ['SIGTERM', 15],
    ] as const) {
      process.once(signal, () => this.end(128 + number));
    }
    // npm that is told to end does not tell what it runs. It is our parent's parent: when it goes, so does our parent.
    if (process.env.npm_lifecycle_event === undefined) return;
    const parent = process.ppid;
    setInterval(() => process.ppid !== parent && this.end(1), 500).unref();
  }
}

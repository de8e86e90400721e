import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithUs } from './guard.ts';

/** Processes of one program, by their numbers: what they are told, and what they tell. */
export class Children<Order extends object | string, Told> {
  readonly #program: URL;
  readonly #hear: (told: Told, by: number) => void;
  readonly #children: ChildProcess[] = [];
  readonly #waiting: Set<() => void> = new Set();
  /** Why one has ended that nobody has killed. */
  crash: Error | undefined;

  /** @param hear called with each message, and the number of its process. */
  constructor(program: URL, hear: (told: Told, by: number) => void) {
    this.#program = program;
    this.#hear = hear;
  }

  get numbers(): number[] {
    return [...this.#children.keys()];
  }

  /** Starts one, also in the place of one that is dead. @param env further variables of its environment. */
  start(by: number, settings: unknown, env: Readonly<Record<string, string>> = {}): void {
    const child = fork(this.#program, [JSON.stringify(settings)], {
      execArgv: ['--import', import.meta.resolve('tsx')],
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#children[by] = child;
    // A stopped one does not notice that its parent is gone. It has no directory; this one never is.
    if (child.pid !== undefined)
      child.once('exit', endWithUs(child.pid, join(tmpdir(), `tickless-${child.pid}`)));
    child.once('exit', (code, signal) => {
      if (signal !== 'SIGKILL') this.crash = new Error(`process ${by} ended with ${code ?? signal}`);
      this.#look();
    });
    child.on('message', (told: Told) => {
      if (this.#children[by] !== child) return; // killed, and another one has its number by now
      this.#hear(told, by);
      this.#look();
    });
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** Resolves when a condition holds. Rejects after that time, and when a process has crashed. */
  until(holds: () => boolean, what: () => string, withinMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        settle();
      };
      const fail = (error: Error): void => end(() => reject(error));
      const timer = setTimeout(() => fail(new Error(`not within ${withinMs} ms: ${what()}`)), withinMs);
      const look = (): void => {
        if (this.crash !== undefined) fail(this.crash);
        else if (holds()) end(resolve);
      };
      this.#waiting.add(look);
      look();
    });
  }

  send(by: number, order: Order): void {
    const child = this.#children[by];
    if (child?.connected) child.send(order, () => {}); // it may be dead by now
  }

  signal(by: number, signal: NodeJS.Signals): void {
    this.#children[by]?.kill(signal);
  }

  /** Kills one, stopped or not. */
  async kill(by: number): Promise<void> {
    const child = this.#children[by] as ChildProcess;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async close(): Promise<void> {
    await Promise.all(this.numbers.map((by) => this.kill(by)));
  }
}

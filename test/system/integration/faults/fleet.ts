import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithUs } from '../support/guard.ts';
import type { Engine } from './clients.ts';
import type { Behaviour, Order, Settings, Told } from './messages.ts';

/** What an instance has told, with its number. */
export type Heard = Told & { readonly by: number };

const READY_WITHIN_MS = 60_000;
const END_WITHIN_MS = 5000;
const PROGRAM = fileURLToPath(new URL('instance.ts', import.meta.url));

/** Processes that run `instance.ts`, and all that they have told since {@link Fleet.begin}. */
export class Fleet {
  readonly heard: Heard[] = [];
  readonly size: number;
  readonly #engine: Engine;
  readonly #envOf: (by: number) => Readonly<Record<string, string>>;
  readonly #children: ChildProcess[] = [];
  readonly #listeners: Set<(heard: Heard) => void> = new Set();
  #log: WriteStream | undefined;
  #settings: readonly Settings[] = [];
  /** Why a process has ended that nobody has killed. */
  #crash: Error | undefined;

  private constructor(engine: Engine, size: number, envOf: (by: number) => Readonly<Record<string, string>>) {
    this.#engine = engine;
    this.size = size;
    this.#envOf = envOf;
  }

  /** Starts them. @param envOf further variables of the environment of each. */
  static async start(
    engine: Engine,
    size: number,
    envOf: (by: number) => Readonly<Record<string, string>> = () => ({}),
  ): Promise<Fleet> {
    const fleet = new Fleet(engine, size, envOf);
    try {
      await Promise.all(fleet.numbers.map((by) => fleet.#start(by)));
      return fleet;
    } catch (error) {
      await fleet.close();
      throw error;
    }
  }

  get numbers(): number[] {
    return Array.from({ length: this.size }, (_, by) => by);
  }

  async #start(by: number): Promise<void> {
    const child = fork(PROGRAM, [this.#engine], {
      execArgv: ['--import', import.meta.resolve('tsx')],
      env: { ...process.env, ...this.#envOf(by) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#children[by] = child;
    // A stopped one does not notice that its parent is gone. It has no directory; this one never is.
    if (child.pid !== undefined)
      child.once('exit', endWithUs(child.pid, join(tmpdir(), `tickless-${child.pid}`)));
    child.once('exit', (code, signal) => {
      if (signal !== 'SIGKILL') this.#crash = new Error(`instance ${by} ended with ${code ?? signal}`);
    });
    child.on('message', (told: Told) => {
      if (this.#children[by] !== child) return; // killed, and another one has its number by now
      const heard = { ...told, by };
      this.heard.push(heard);
      this.#log?.write(`${JSON.stringify(heard)}\n`);
      for (const listener of [...this.#listeners]) listener(heard);
    });
    await this.until((heard) => heard.kind === 'ready' && heard.by === by, READY_WITHIN_MS);
  }

  /** What has just been heard, or will be, that matches. Rejects after that many milliseconds. */
  until(matches: (heard: Heard) => boolean, withinMs: number): Promise<Heard> {
    const heard = new Promise<Heard>((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#listeners.delete(listen);
      };
      const timer = setTimeout(() => {
        end();
        reject(this.#crash ?? new Error(`not heard within ${withinMs} ms: ${matches}`));
      }, withinMs);
      const listen = (heard: Heard): void => {
        if (!matches(heard)) return;
        end();
        resolve(heard);
      };
      this.#listeners.add(listen);
    });
    heard.catch(() => {}); // who asked may have met another error by then
    return heard;
  }

  on(listener: (heard: Heard) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Writes what is heard from now on to that file, in the place of what it holds. */
  record(file: string): void {
    this.#log?.end();
    this.#log = createWriteStream(file);
  }

  /** Has each make a value, and waits until each has something to serve. */
  async begin(settings: readonly Settings[]): Promise<void> {
    this.heard.length = 0;
    this.#settings = settings;
    await Promise.all(this.numbers.map((by) => this.#begin(by)));
  }

  async #begin(by: number): Promise<void> {
    const hasBegun = this.until((heard) => heard.kind === 'began' && heard.by === by, READY_WITHIN_MS);
    this.#send(by, { kind: 'begin', settings: this.#settings[by] as Settings });
    await hasBegun;
  }

  #send(by: number, order: Order): void {
    const child = this.#children[by];
    if (child?.connected) child.send(order, () => {}); // it may be dead by now
  }

  behave(behaviour: Partial<Behaviour>, numbers: readonly number[] = this.numbers): void {
    for (const by of numbers) this.#send(by, { kind: 'behave', behaviour });
  }

  signal(by: number, signal: NodeJS.Signals): void {
    this.#children[by]?.kill(signal);
  }

  /** Kills one and starts it anew. Resolves when it has something to serve. */
  async replace(by: number): Promise<void> {
    const child = this.#children[by] as ChildProcess;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    await this.#start(by);
    await this.#begin(by);
  }

  /** Has them close their values; the processes stay for the next ones. */
  async end(): Promise<void> {
    const ends = this.numbers.map((by) =>
      this.until((heard) => heard.kind === 'ended' && heard.by === by, END_WITHIN_MS),
    );
    for (const by of this.numbers) this.#send(by, { kind: 'end' });
    await Promise.all(ends);
  }

  /** Kills them, stopped or not. */
  async close(): Promise<void> {
    this.#listeners.clear();
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exit = once(child, 'exit');
        child.kill('SIGKILL');
        await exit;
      }),
    );
  }
}

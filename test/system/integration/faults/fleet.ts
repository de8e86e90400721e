import { createWriteStream, type WriteStream } from 'node:fs';
import { Children } from '../support/children.ts';
import type { Engine } from './clients.ts';
import type { Behaviour, Order, Settings, Told } from './messages.ts';

/** What an instance has told, with its number. */
export type Heard = Told & { readonly by: number };

const READY_WITHIN_MS = 60_000;
const END_WITHIN_MS = 5000;
const PROGRAM = new URL('instance.ts', import.meta.url);

/** Processes that run `instance.ts`, and all that they have told since {@link Fleet.begin}. */
export class Fleet {
  readonly heard: Heard[] = [];
  readonly size: number;
  readonly #engine: Engine;
  readonly #envOf: (by: number) => Readonly<Record<string, string>>;
  readonly #children: Children<Order, Told> = new Children(PROGRAM, (told, by) => {
    const heard = { ...told, by };
    this.heard.push(heard);
    this.#log?.write(`${JSON.stringify(heard)}\n`);
    for (const listener of [...this.#listeners]) listener(heard);
  });
  readonly #listeners: Set<(heard: Heard) => void> = new Set();
  #log: WriteStream | undefined;
  #settings: readonly Settings[] = [];

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
    this.#children.start(by, this.#engine, this.#envOf(by));
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
        reject(this.#children.crash ?? new Error(`not heard within ${withinMs} ms: ${matches}`));
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
    this.#children.send(by, { kind: 'begin', settings: this.#settings[by] as Settings });
    await hasBegun;
  }

  behave(behaviour: Partial<Behaviour>, numbers: readonly number[] = this.numbers): void {
    for (const by of numbers) this.#children.send(by, { kind: 'behave', behaviour });
  }

  signal(by: number, signal: NodeJS.Signals): void {
    this.#children.signal(by, signal);
  }

  /** Kills one and starts it anew. Resolves when it has something to serve. */
  async replace(by: number): Promise<void> {
    await this.#children.kill(by);
    await this.#start(by);
    await this.#begin(by);
  }

  /** Has them close their values; the processes stay for the next ones. */
  async end(): Promise<void> {
    const ends = this.numbers.map((by) =>
      this.until((heard) => heard.kind === 'ended' && heard.by === by, END_WITHIN_MS),
    );
    for (const by of this.numbers) this.#children.send(by, { kind: 'end' });
    await Promise.all(ends);
  }

  /** Kills them, stopped or not. */
  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#children.close();
  }
}

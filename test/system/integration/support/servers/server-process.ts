import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithUs } from '../guard.ts';
import { freePort } from '../ports.ts';
import { freezeAll, killAll, thawAll } from '../processes.ts';
import type { CommandCount, Kind, Place } from './kind.ts';
import type { RealServer, RealServerKind, StartOptions } from './server.ts';

const READY_WITHIN_MS = 60_000;
const END_WITHIN_MS = 5000;
const LINES_KEPT = 200;

/** Another process may have taken the port while the server made its files. */
const PORT_TAKEN = /address already in use|EADDRINUSE/i;
const MOST_ATTEMPTS = 3;

/**
 * The zone of the servers' clocks: not that of the tests, and the only one that is moved by half an hour in summer. An
 * adapter that lets local time in is seen.
 */
const ZONE = 'Australia/Lord_Howe';

/** Starts a server of that kind. */
export async function startServer<K extends RealServerKind>(
  kind: Kind<K>,
  options: StartOptions = {},
): Promise<RealServer<K>> {
  for (let attempt = 1; ; attempt += 1) {
    const server = new ServerProcess(kind, options, await newPlace(kind));
    try {
      await server.begin();
      return server;
    } catch (error) {
      await server.close();
      if (attempt === MOST_ATTEMPTS || !PORT_TAKEN.test(server.log)) throw error;
    }
  }
}

async function newPlace({ kind }: Kind<RealServerKind>): Promise<Place> {
  return { directory: await mkdtemp(join(tmpdir(), `tickless-${kind}-`)), port: await freePort() };
}

class ServerProcess<K extends RealServerKind> implements RealServer<K> {
  readonly kind: K;
  readonly label: string;
  readonly version: string;
  readonly port: number;
  readonly #kind: Kind<K>;
  readonly #options: StartOptions;
  readonly #place: Place;
  readonly #lines: string[] = [];
  readonly #listeners: Set<(line: string) => void> = new Set();
  #child: ChildProcess | undefined;
  #count: CommandCount | undefined;
  #isClosed = false;

  constructor(kind: Kind<K>, options: StartOptions, place: Place) {
    ({ kind: this.kind, label: this.label, version: this.version } = kind);
    this.port = place.port;
    this.#kind = kind;
    this.#options = options;
    this.#place = place;
  }

  get url(): string {
    return this.#kind.url(this.#place);
  }

  get log(): string {
    return this.#lines.join('\n');
  }

  async begin(): Promise<void> {
    await this.#kind.initialise?.(this.#place);
    await this.#launch();
  }

  async #launch(): Promise<void> {
    const { args = [] } = this.#options;
    const { file, args: own, as } = this.#kind.command(this.#place, this.#options);
    const child = spawn(file, [...own, ...args], {
      cwd: this.#place.directory,
      env: { ...process.env, TZ: ZONE, LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...as,
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      const fail = (reason: string): void => {
        clearTimeout(timer);
        reject(new Error(`${this.label} did not start: ${reason}\n${file} ${own.join(' ')}\n${this.log}`));
      };
      const timer = setTimeout(() => fail(`not ready within ${READY_WITHIN_MS} ms`), READY_WITHIN_MS);
      child.once('error', ({ message }) => fail(message));
      child.once('exit', (code, signal) => fail(`ended with ${code ?? signal}`));
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          this.#print(line);
          if (!this.#kind.saysReady.test(line)) return;
          clearTimeout(timer);
          resolve();
        });
      }
      if (child.pid === undefined) return; // `error` says why
      child.once('exit', endWithUs(child.pid, this.#place.directory));
    });
  }

  #print(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > LINES_KEPT) this.#lines.shift();
    for (const listener of this.#listeners) listener(line);
  }

  /** The number of its process while it runs. */
  #pid(): number {
    const { pid, exitCode, signalCode } = this.#child ?? {};
    if (pid === undefined || exitCode !== null || signalCode !== null) {
      throw new Error(`${this.label} does not run`);
    }
    return pid;
  }

  freeze(): void {
    freezeAll(this.#pid());
  }

  thaw(): void {
    thawAll(this.#pid());
  }

  async freezeFor(ms: number): Promise<void> {
    this.freeze();
    await sleep(ms);
    this.thaw();
  }

  async kill(): Promise<void> {
    const pid = this.#pid();
    await this.#ended(() => killAll(pid));
  }

  async #ended(end: () => void): Promise<void> {
    this.#count?.close();
    this.#count = undefined;
    this.#listeners.clear();
    const closed = once(this.#child as ChildProcess, 'close'); // which its own children delay while they live
    end();
    await closed;
    this.#child = undefined;
  }

  async #end(pid: number): Promise<void> {
    const timer = setTimeout(() => killAll(pid), END_WITHIN_MS);
    await this.#ended(() => {
      thawAll(pid);
      process.kill(pid, this.#kind.endsBy ?? 'SIGKILL');
    });
    clearTimeout(timer);
  }

  async restart({ empty = false }: { readonly empty?: boolean } = {}): Promise<void> {
    if (!empty && !this.#kind.keepsData) {
      throw new Error(`${this.label} keeps nothing over a restart: say { empty: true }`);
    }
    if (this.#child !== undefined) await this.kill();
    if (empty) {
      this.#kind.forget?.(this.#place);
      await rm(join(this.#place.directory, 'data'), { recursive: true, force: true });
      await this.#kind.initialise?.(this.#place);
    }
    await this.#launch();
  }

  async commandsServed(): Promise<number> {
    this.#pid();
    this.#count ??= this.#kind.count?.(this.#place, (listener) => this.#listeners.add(listener));
    if (this.#count === undefined) throw new Error(`${this.label} is not asked for its count of commands`);
    return this.#count.served();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { exitCode, signalCode, pid } = this.#child ?? {};
    if (pid !== undefined && exitCode === null && signalCode === null) await this.#end(pid);
    this.#kind.forget?.(this.#place);
    await rm(this.#place.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

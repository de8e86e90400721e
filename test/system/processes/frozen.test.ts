// Processes that a serverless platform freezes between two invocations, which SIGSTOP and SIGCONT do as well.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { Invocation } from './fixtures/invocations.ts';

const READS = 50;

/** Longer than `maxStaleness`. */
const LONG_MS = 2500;

/** One process, which is frozen unless it is asked something. */
class Frozen {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterableIterator<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  }

  /** @param args how long a load takes. */
  static async start(...args: string[]): Promise<Frozen> {
    const script = fileURLToPath(new URL('fixtures/invocations.ts', import.meta.url));
    const { NODE_OPTIONS: _, ...env } = process.env;
    const stdio = ['pipe', 'pipe', 'inherit'] as ['pipe', 'pipe', 'inherit'];
    const child = spawn(process.execPath, ['--import', 'tsx', script, ...args], { env, stdio });
    const frozen = new Frozen(child);
    running.add(frozen);
    await frozen.says(/^ready/);
    child.kill('SIGSTOP');
    return frozen;
  }

  /** Thaws it, and has it read. */
  ask(): void {
    this.#child.kill('SIGCONT');
    this.#child.stdin?.write(`${READS}\n`);
  }

  /** The next line of that kind. */
  async says(kind: RegExp): Promise<string> {
    for (;;) {
      const { value = '', done } = await this.#lines.next();
      if (done) throw new Error('the process has ended');
      if (kind.test(value)) return value;
    }
  }

  /** Freezes it as soon as it has answered. */
  async invoke(): Promise<Invocation> {
    this.ask();
    const answer = await this.says(/^{/);
    this.freeze();
    return JSON.parse(answer);
  }

  /** Thaws it for a while without an invocation. */
  async thawFor(ms: number): Promise<void> {
    this.#child.kill('SIGCONT');
    await sleep(ms);
    this.freeze();
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

const running = new Set<Frozen>();

afterEach(() => {
  for (const frozen of running) frozen.kill();
  running.clear();
});

describe('a process that is frozen behind each answer', () => {
  it('loads at most once for an invocation, and serves nothing that is too old', async () => {
    const frozen = await Frozen.start();
    let latest = await frozen.invoke();
    expect([latest.loadedAt.length, latest.loads]).toEqual([1, 1]);
    for (let invocation = 2; invocation <= 5; invocation++) {
      const frozenAt = Date.now();
      await sleep(LONG_MS);
      latest = await frozen.invoke();
      expect(latest.loadedAt).toHaveLength(1);
      expect(latest.loadedAt[0]).toBeGreaterThan(frozenAt); // from before it would be too old
      expect(latest.loads).toBeLessThanOrEqual(invocation);
    }
  });

  it('ends the load that was under way, and begins no second one', async () => {
    const frozen = await Frozen.start('200');
    const { loadedAt: first } = await frozen.invoke();
    await sleep(500);
    const due = await frozen.invoke(); // is answered at once; its load is frozen
    expect([due.loadedAt, due.loads]).toEqual([first, 2]);
    await sleep(500);
    await frozen.thawFor(1000);
    const { loadedAt, loads } = await frozen.invoke();
    expect(loadedAt[0]).toBeGreaterThan(first[0] as number);
    expect(loads).toBeLessThanOrEqual(3); // the third may have been due
  });
});

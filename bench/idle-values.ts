import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const CANDIDATES = [
  'plain objects',
  'tickless, values',
  'tickless, keys of a cache',
  'lru-cache, ttl',
  'setInterval, 5 to 10 s',
] as const;

/** The counters of the operating system for one idle process. */
export interface IdleValues {
  readonly name: string;
  /** Milliseconds of the processor, all threads. */
  readonly cpuMs: number;
  /** Voluntary context switches: how often a thread was woken up and went back to sleep. */
  readonly wakeUps: number;
  /** Involuntary context switches: preemptions by another program. */
  readonly preemptions: number;
}

/** Until a process has finished its start-up. */
const SETTLE_MS = 3_000;

/**
 * Observes idle processes concurrently for some milliseconds, by the counters of Linux. They run without V8's memory
 * reducer, which would collect garbage in any idle process every few seconds.
 *
 * @returns `undefined` on other systems than Linux.
 */
export async function measureIdleValues(count: number, ms: number): Promise<IdleValues[] | undefined> {
  if (!existsSync('/proc/self/schedstat')) return undefined;
  const processes = await Promise.all(CANDIDATES.map((name) => start(name, count)));
  await sleep(SETTLE_MS);
  const before = processes.map(usage);
  await sleep(ms);
  const after = processes.map(usage);
  for (const { stdin } of processes) stdin?.end();
  return CANDIDATES.map((name, i) => {
    const [first, last] = [before[i] as Usage, after[i] as Usage];
    return {
      name,
      cpuMs: last.cpuMs - first.cpuMs,
      wakeUps: last.wakeUps - first.wakeUps,
      preemptions: last.preemptions - first.preemptions,
    };
  });
}

type Usage = Omit<IdleValues, 'name'>;

/** Resolves when everything is created and loaded. */
async function start(name: string, count: number): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('idle-values/main.mjs', import.meta.url));
  const child = spawn(process.execPath, ['--expose-gc', '--no-memory-reducer', script, name, String(count)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`))),
  ]);
  return child;
}

/** The usage of all threads of a process so far. */
function usage({ pid }: ChildProcess): Usage {
  const tasks = readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`);
  const sum = (of: (task: string) => number): number => tasks.reduce((all, task) => all + of(task), 0);
  return {
    cpuMs: sum((task) => Number(read(`${task}/schedstat`).split(' ')[0])) / 1e6,
    wakeUps: sum((task) => switches(task, 'voluntary')),
    preemptions: sum((task) => switches(task, 'nonvoluntary')),
  };
}

function switches(task: string, kind: string): number {
  const found = new RegExp(`^${kind}_ctxt_switches:\\s+(\\d+)`, 'm').exec(read(`${task}/status`));
  return Number(found?.[1]);
}

function read(file: string): string {
  return readFileSync(file, 'utf8');
}

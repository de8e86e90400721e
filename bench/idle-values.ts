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

/** What the operating system saw of one idle process. */
export interface IdleValues {
  readonly name: string;
  /** Milliseconds of the processor, all threads. */
  readonly cpuMs: number;
  /** Times that a thread went to sleep again: so often it had been woken up. */
  readonly wakeUps: number;
  /** Times that a thread had to make room for another program. */
  readonly preemptions: number;
}

/** Until all that started a process has come to rest. */
const SETTLE_MS = 3_000;

/**
 * Watches idle processes side by side, for so many milliseconds, as Linux counts it. They run without V8's memory
 * reducer, which would collect garbage in an idle process every few seconds, whatever it holds.
 *
 * @returns `undefined` where there is no Linux to ask.
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

/** Resolves when all is made and loaded. */
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

/** What all threads of a process have used so far. */
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

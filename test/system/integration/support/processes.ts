import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Each process with its parent. */
function parents(): Map<number, number> {
  if (process.platform !== 'linux') {
    const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
    return new Map(table.trim().split('\n').map(pairOf));
  }
  const found = new Map<number, number>();
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // pid (name) state parent …; the name may hold anything, brackets too.
      const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      found.set(Number(pid), Number(parent));
    } catch {
      // It has ended since.
    }
  }
  return found;
}

function pairOf(line: string): [number, number] {
  const [pid, parent] = line.trim().split(/\s+/);
  return [Number(pid), Number(parent)];
}

/** The processes that a process has begun, with those that they have begun. */
function descendants(pid: number): number[] {
  const table = parents();
  const found: number[] = [];
  for (const ancestors = [pid]; ancestors.length > 0; ) {
    const ancestor = ancestors.pop();
    for (const [child, parent] of table) {
      if (parent !== ancestor) continue;
      found.push(child);
      ancestors.push(child);
    }
  }
  return found;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has ended since
  }
}

/** Whether each thread of a process stands still, or has ended. */
function isStill(pid: number): boolean {
  if (process.platform !== 'linux') return true; // nothing tells of threads
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      return 'TtZX'.includes(stat.charAt(stat.lastIndexOf(')') + 2));
    });
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(String((error as NodeJS.ErrnoException).code))) return false; // one ended: look again
    throw error;
  }
}

const STILL_WITHIN_MS = 10_000;

/** A signal is sent, not obeyed, when `kill` returns: a thread on another processor may answer one more command. */
function stop(pid: number): void {
  signal(pid, 'SIGSTOP');
  const endAt = performance.now() + STILL_WITHIN_MS;
  while (parents().has(pid) && !isStill(pid)) {
    if (performance.now() > endAt) throw new Error(`process ${pid} does not stop`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}

/** Stops a process and all of its descendants where they stand. When it returns, none of them does anything any more. */
export function freezeAll(pid: number): void {
  stop(pid); // first, so that it begins no more of them
  const frozen = new Set<number>();
  for (;;) {
    const found = descendants(pid).filter((child) => !frozen.has(child));
    if (found.length === 0) return;
    for (const child of found) {
      stop(child);
      frozen.add(child);
    }
  }
}

/** Lets a process that was frozen and its descendants go on. */
export function thawAll(pid: number): void {
  for (const child of descendants(pid)) signal(child, 'SIGCONT');
  signal(pid, 'SIGCONT');
}

/** Kills a process and all of its descendants, frozen or not. They get no chance to do anything more. */
export function killAll(pid: number): void {
  try {
    freezeAll(pid); // or those left behind would be nobody's children before they are found
  } catch {
    // It is killed all the same.
  }
  for (const child of descendants(pid)) signal(child, 'SIGKILL');
  signal(pid, 'SIGKILL');
}

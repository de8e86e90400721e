// Child processes, and work done a few at a time.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { root } from './project.mjs';

/**
 * @typedef {object} Run
 * @property {number} code the exit code; 1 also where a signal ended it or it could not start
 * @property {string} stdout
 * @property {string} stderr
 * @property {string} output both, in the order in which they came
 * @property {boolean} isTimedOut
 * @property {number} seconds
 */

/**
 * Runs a command to its end, without a shell, and collects what it prints. Never rejects.
 *
 * @param {string[]} command
 * @param {object} [options]
 * @param {string} [options.cwd]
 * @param {Record<string, string | undefined>} [options.env]
 * @param {number} [options.timeoutMs] a process that is still there then is killed, with those that it has started, and says so
 *   in its stderr
 * @param {(line: string) => void} [options.onLine] receives each line of stdout as soon as it is there
 * @returns {Promise<Run>}
 */
export function run([file, ...args], { cwd = root, env = {}, timeoutMs, onLine } = {}) {
  return new Promise((resolve) => {
    const begun = performance.now();
    // npm is a .cmd file on Windows, which only a shell can start.
    const shell = process.platform === 'win32' && file === 'npm';
    const child = spawn(file, args, {
      cwd,
      env: { ...process.env, ...env },
      shell,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const result = { code: 1, stdout: '', stderr: '', output: '', isTimedOut: false, seconds: 0 };
    const collect = (stream) => (text) => {
      result[stream] += text;
      result.output += text;
    };
    child.stdout.setEncoding('utf8').on('data', collect('stdout'));
    if (onLine !== undefined) createInterface({ input: child.stdout }).on('line', onLine);
    child.stderr.setEncoding('utf8').on('data', collect('stderr'));

    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            result.isTimedOut = true;
            collect('stderr')(`killed: not ended after ${timeoutMs / 1000} s\n`);
            killTree(child.pid);
          }, timeoutMs);
    child.on('error', (error) => collect('stderr')(`${error.message}\n`));
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ ...result, code: code ?? 1, seconds: (performance.now() - begun) / 1000 });
    });
  });
}

/** The process of each parent; nothing where there is no /proc. */
function childrenByParent() {
  const children = new Map();
  try {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      // Behind the name, which may hold anything: the state, and the parent.
      const parent = /^.*\) \S (\d+)/s.exec(statusOf(pid))?.[1];
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    }
  } catch {}
  return children;
}

function statusOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return ''; // it has ended
  }
}

/** One that lives on would keep the pipes of its parent open, and the run with them. */
function killTree(pid) {
  const children = childrenByParent();
  const tree = [String(pid)];
  for (const each of tree) tree.push(...(children.get(each) ?? []));
  for (const each of tree) {
    try {
      process.kill(Number(each), 'SIGKILL');
    } catch {} // it has ended
  }
}

/**
 * Maps a list with at most as many at work as there are processors (at least two), and keeps its order.
 *
 * @template A, B
 * @param {readonly A[]} items
 * @param {(item: A) => Promise<B>} action
 * @returns {Promise<B[]>}
 */
export async function severalAtOnce(items, action) {
  const results = new Array(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await action(items[index]);
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));
  return results;
}

// Child processes, and work done a few at a time.

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { root } from './project.mjs';

/**
 * @typedef {object} Run
 * @property {number} code the exit code; 1 also where a signal ended it or it could not start
 * @property {string} stdout
 * @property {string} stderr
 * @property {string} output both, in the order in which they came
 * @property {number} seconds
 */

/**
 * Runs a command to its end, without a shell, and collects what it prints. Never rejects.
 *
 * @param {string[]} command
 * @param {{ cwd?: string, env?: Record<string, string | undefined>, timeoutMs?: number }} [options] a process that
 *   is still there after `timeoutMs` is killed, and says so in its stderr
 * @returns {Promise<Run>}
 */
export function run([file, ...args], { cwd = root, env = {}, timeoutMs } = {}) {
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
    const result = { code: 1, stdout: '', stderr: '', output: '', seconds: 0 };
    const collect = (stream) => (text) => {
      result[stream] += text;
      result.output += text;
    };
    child.stdout.setEncoding('utf8').on('data', collect('stdout'));
    child.stderr.setEncoding('utf8').on('data', collect('stderr'));

    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            collect('stderr')(`killed: not ended after ${timeoutMs / 1000} s\n`);
            child.kill('SIGKILL');
          }, timeoutMs);
    child.on('error', (error) => collect('stderr')(`${error.message}\n`));
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ ...result, code: code ?? 1, seconds: (performance.now() - begun) / 1000 });
    });
  });
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

import { fork } from 'node:child_process';
import { join } from 'node:path';
import { root } from './project.mjs';

/** A world that hangs must not hang the run: the slowest takes a few seconds. */
const SILENCE_MS = 120_000;

/**
 * Runs test/system/simulation/main.ts. Resolves when the process has ended, with the reason where it ended too early.
 *
 * @param {string[]} args
 * @param {(verdict: object) => void} judge is called with each verdict
 */
export function runWorlds(args, judge) {
  return new Promise((resolve) => {
    const child = fork(join(root, 'test/system/simulation/main.ts'), args, {
      cwd: root,
      execArgv: ['--import', import.meta.resolve('tsx')],
    });
    let why;
    let timer;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        why = `no word for ${SILENCE_MS / 1000} s`;
        child.kill('SIGKILL');
      }, SILENCE_MS);
    };
    wait();
    child.on('message', (verdict) => {
      wait();
      judge(verdict);
    });
    child.on('exit', (code) => {
      clearTimeout(timer);
      if (code !== 0) why ??= `it ended with ${code}`;
      resolve(why);
    });
  });
}

import { fork } from 'node:child_process';
import { join } from 'node:path';
import { root } from './project.mjs';

/** A world that hangs must not hang the run: the slowest takes a few seconds. */
const SILENCE_MS = 120_000;

/**
 * Runs test/system/simulation/main.ts of a folder. Resolves when it has ended, with why it did not come to its end, if so.
 *
 * @param {string[]} args
 * @param {(verdict: object, end: () => void) => void} told is given each verdict, and a way to end the run
 * @param {string} [folder] the project, or a copy with a fault
 */
export function runWorlds(args, told, folder = root) {
  return new Promise((resolve) => {
    const child = fork(join(folder, 'test/system/simulation/main.ts'), args, {
      cwd: folder,
      execArgv: ['--import', import.meta.resolve('tsx')],
    });
    let isEnded = false;
    let why;
    let timer;
    const end = () => {
      isEnded = true;
      child.kill();
    };
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
      if (!isEnded) told(verdict, end);
    });
    child.on('exit', (code) => {
      clearTimeout(timer);
      if (!isEnded && code !== 0) why ??= `it ended with ${code}`;
      resolve(why);
    });
  });
}

import { fork } from 'node:child_process';
import { join } from 'node:path';
import { root } from './project.mjs';

/**
 * Runs a TypeScript program that sends messages. Resolves when it has ended, with the reason where it ended too early.
 *
 * @param {string} file from the root
 * @param {string[]} args
 * @param {object} options
 * @param {(message: object) => void} options.onMessage
 * @param {number} options.silenceMs a program that has sent nothing for that time hangs: it is disconnected, on which it
 *   may end its children, and then killed
 * @param {number} [options.graceMs] the time between the two
 */
export function forkProgram(file, args, { onMessage, silenceMs, graceMs = 0 }) {
  return new Promise((resolve) => {
    const child = fork(join(root, file), args, {
      cwd: root,
      execArgv: ['--import', import.meta.resolve('tsx')],
    });
    let why;
    let timer;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        why = `no word for ${silenceMs / 1000} s`;
        if (child.connected) child.disconnect();
        timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      }, silenceMs);
    };
    wait();
    child.on('message', (message) => {
      wait();
      onMessage(message);
    });
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      resolve(why ?? (code === 0 ? undefined : `it ended with ${code ?? signal}`));
    });
  });
}

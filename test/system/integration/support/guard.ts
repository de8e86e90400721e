import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What the watchdog is told. */
export interface Watched {
  /** Killed with its descendants when this process ends. */
  readonly pid: number;
  /** Removed after it. */
  readonly directory: string;
  /** It has ended: its number may be another's soon. */
  readonly isOver: boolean;
}

let watchdog: ChildProcess | undefined;

/**
 * Has a process killed, and its directory removed, when this process ends, for whatever reason: SIGKILL too. Another
 * process, begun with the first call, sees to it.
 *
 * @returns to be called when it has ended by itself.
 */
export function endWithUs(pid: number, directory: string): () => void {
  watchdog ??= startWatchdog();
  const tell = (isOver: boolean): void => {
    if (watchdog?.connected) watchdog.send({ pid, directory, isOver } satisfies Watched);
  };
  tell(false);
  return () => tell(true);
}

function startWatchdog(): ChildProcess {
  const child = fork(fileURLToPath(new URL('watchdog.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    cwd: fileURLToPath(new URL('.', import.meta.url)), // from where tsx is found
    detached: true, // the terminal's Ctrl+C is not for it
    stdio: 'ignore',
  });
  child.unref();
  child.channel?.unref();
  return child;
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Engine } from '../faults/clients.ts';
import { endWithUs } from './guard.ts';

export interface CrowdSettings {
  readonly engine: Engine;
  readonly url: string;
  /** Of the cache that all processes share. */
  readonly keys: number;
}

/** What came of one read of all keys. */
export interface CrowdRead {
  readonly found: number;
  readonly rejected: number;
  /** The first errors. */
  readonly failed: readonly string[];
  /** The keys that this process has loaded. */
  readonly loads: readonly number[];
  readonly ms: number;
  /** The log. */
  readonly lines: readonly string[];
}

export type FromCrowd = { readonly kind: 'ready' } | ({ readonly kind: 'read' } & CrowdRead);

const PROGRAM = fileURLToPath(new URL('../fixtures/crowd.ts', import.meta.url));

/** Processes that read all keys of a cache at the same time, which none of them has yet. @returns what each has met. */
export async function readInCrowd(processes: number, settings: CrowdSettings): Promise<CrowdRead[]> {
  const children = Array.from({ length: processes }, () => startProcess(settings));
  const next = (child: ChildProcess): Promise<FromCrowd> =>
    new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`a process ended with ${code}`)));
    });
  try {
    await Promise.all(children.map(next));
    const reads = children.map(next);
    for (const child of children) child.send('read');
    return (await Promise.all(reads)) as Extract<FromCrowd, { kind: 'read' }>[];
  } finally {
    await Promise.all(children.map(end));
  }
}

function startProcess(settings: CrowdSettings): ChildProcess {
  const child = fork(PROGRAM, [JSON.stringify(settings)], {
    execArgv: ['--import', import.meta.resolve('tsx')],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  if (child.pid !== undefined)
    child.once('exit', endWithUs(child.pid, join(tmpdir(), `tickless-${child.pid}`)));
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

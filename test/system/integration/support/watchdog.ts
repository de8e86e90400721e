// A process that outlives the one that started it, to end what that leaves behind: see `guard.ts`.

import { rmSync } from 'node:fs';
import type { Watched } from './guard.ts';
import { killAll } from './processes.ts';
import { freeSharedMemory } from './servers/shared-memory.ts';

const watched = new Map<number, string>();

process.on('message', ({ pid, directory, isOver }: Watched) => {
  if (isOver) watched.delete(pid);
  else watched.set(pid, directory);
});
process.on('disconnect', () => {
  for (const [pid, directory] of watched) {
    killAll(pid);
    freeSharedMemory(directory);
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
});

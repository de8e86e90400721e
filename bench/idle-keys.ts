import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type IdleKeysCandidate, idleKeysCandidates } from './idle-keys/candidates.ts';

/** The cost of one idle key, without its key string and its value. */
export interface IdleKeyBytes {
  readonly name: IdleKeysCandidate;
  readonly bytes: number;
  readonly toLruCache: number;
}

/** Each candidate runs in a process of its own, so that nothing of another one is counted. */
export function measureIdleKeys(count: number): IdleKeyBytes[] {
  const measured = idleKeysCandidates.map((name) => ({ name, bytes: bytesPerKey(name, count) }));
  const lruCache = measured.find(({ name }) => name === 'lru-cache, ttl')?.bytes ?? Number.NaN;
  return measured.map((each) => ({ ...each, toLruCache: each.bytes / lruCache }));
}

function bytesPerKey(name: IdleKeysCandidate, count: number): number {
  const script = fileURLToPath(new URL('idle-keys/main.ts', import.meta.url));
  const args = ['--expose-gc', '--import', import.meta.resolve('tsx'), script, name, String(count)];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

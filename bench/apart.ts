import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { measures } from './apart/measures.ts';

type Measures = typeof measures;

/** Runs in a process of its own: code that ran before affects the compilation, and so the time of a read. */
export function apart<N extends keyof Measures>(name: N): Awaited<ReturnType<Measures[N]>> {
  const script = fileURLToPath(new URL('apart/main.ts', import.meta.url));
  const needsSpace = name === 'allocations' || name === 'races'; // the young generation that scripts/bench.mjs gives to this process
  const space = needsSpace ? process.execArgv.filter((flag) => flag.includes('semi-space')) : [];
  const args = ['--expose-gc', ...space, '--import', import.meta.resolve('tsx'), script, name];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

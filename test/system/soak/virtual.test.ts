import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { reportOf, runNode } from '../processes/child.ts';
import type { Verdict } from './verdict.ts';

const program = fileURLToPath(new URL('virtual/main.ts', import.meta.url));

/** It takes a quarter of a minute on an idle machine. */
const LONGEST_MS = 240_000;

/** `npm run soak` does the same for an hour, with a lower bound on heap growth: three minutes have hardly filled the caches. */
it(
  'leaves nothing behind after three minutes of virtual faults',
  async () => {
    const args = ['--minutes', '3', '--samples', '20', '--growth', '0.25'];
    const ended = await runNode(
      ['--expose-gc', '--no-opt', '--import', 'tsx', program, ...args],
      {},
      LONGEST_MS,
    );
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const { checks } = reportOf<Verdict>(ended);
    expect(checks.filter(({ isOk }) => !isOk)).toEqual([]);
    expect(checks.length).toBeGreaterThan(15);
  },
  LONGEST_MS,
);

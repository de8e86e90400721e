import { expect, it, vi } from 'vitest';

interface Step {
  readonly name: string;
  readonly title: string;
  readonly command: readonly string[];
}

const { href } = new URL('../../../scripts/support/steps.mjs', import.meta.url);
const { runSteps } = (await import(href)) as {
  readonly runSteps: (steps: readonly Step[], timeoutMs?: number) => Promise<boolean>;
};

const stepOf = (name: string, program: string): Step => ({
  name,
  title: `step ${name}`,
  command: [process.execPath, '-e', program],
});

/** The lines that the steps have printed, with the result. */
async function linesOf(steps: readonly Step[], timeoutMs?: number) {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    const isGood = await runSteps(steps, timeoutMs);
    return { isGood, lines: log.mock.calls.flatMap(([text]) => String(text).split('\n')) };
  } finally {
    log.mockRestore();
  }
}

it('a step that is ended at its limit has printed the tests that failed, and ends with what it has started', async () => {
  // A shell starts at once, also on a busy machine; what it has started keeps its pipes open.
  const program = "echo '....'; echo 'failed: a test: why'; sleep 1000 & sleep 1000";
  const hangs = { name: 'hangs', title: 'step hangs', command: ['/bin/sh', '-c', program] };
  const { isGood, lines } = await linesOf([hangs], 2000);
  expect(isGood).toBe(false);
  const failed = lines.filter((line) => line.includes('failed: '));
  expect(failed).toEqual([
    'step hangs: failed: a test: why',
    'failed: a test: why', // all that it has printed
    'failed: a test: why', // at the end, with the others
    'failed: step hangs: not ended after 2 s',
  ]);
  expect(lines.at(-1)).toBe('0 passed, 1 failed');
});

it('a run ends with the time of each step, what failed in it, and the counts', async () => {
  const { isGood, lines } = await linesOf([
    stepOf('good', "console.log('skipped: here: why\\n3 passed, 0 failed')"),
    stepOf('bad', "console.log('failed: one: why\\n1 passed, 1 failed'); process.exitCode = 1"),
  ]);
  expect(isGood).toBe(false);
  const table = lines.findIndex((line) => /│ step +│ seconds │/.test(line));
  expect(lines.slice(table).filter((line) => /│ step (good|bad) +│ +\d+\.\d │/.test(line))).toHaveLength(2);
  expect(lines.slice(-4, -2)).toEqual(['skipped: here: why', 'failed: one: why']);
  expect(lines.at(-1)).toBe('4 passed, 1 failed');
});

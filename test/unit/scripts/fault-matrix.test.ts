import { expect, it } from 'vitest';

const module = new URL('../../../scripts/support/fault-matrix.mjs', import.meta.url).href;
const { faultMatrix } = (await import(module)) as { readonly faultMatrix: (run: object) => string };

const figure = (label: string, value: string, isBroken = false) => ({ label, value, isBroken });
const redis = { engine: 'redis', version: 'Redis 7' };
const sqlite = { engine: 'sqlite', version: 'SQLite 3' };
const kill = { scenario: 2, title: 'killed' };
const outage = { scenario: 4, title: 'the server stops' };
const killed = [
  figure('reads', '900'),
  figure('rounds published', '24'),
  figure('stale publishes', '0'),
  figure('longest read', '5.4 ms'),
  figure('holders killed in mid-load', '20'),
  figure('taken over after, median', '1892 ms'),
  figure('taken over after, longest', '2017 ms'),
  figure('another lease, or not done, after the retry', '0'),
];

const run = {
  date: '2026-03-01T10:00:00.000Z',
  node: 'v20.20.0',
  options: [],
  seconds: 601,
  engines: ['redis', 'sqlite'],
  verdicts: [
    { ...redis, ...outage, isOk: true, figures: [figure('published again after, longest', '507 ms')] },
    { ...redis, ...kill, isOk: true, figures: killed },
    { ...sqlite, ...kill, isOk: true, figures: killed },
  ],
  leftOut: [{ ...sqlite, ...outage, leftOut: 'there is no server' }],
  broken: [] as string[],
};

it('has a row for each figure that is not 0, a column for each engine, and says where a fault was left out', () => {
  expect(`${faultMatrix(run)}\n`).toBe(
    `Run on 2026-03-01 with Node 20.20.0, in 11 minutes: \`npm run faults\`.

| fault | figure | Redis 7 | SQLite 3 |
| --- | --- | ---: | ---: |
| 2 killed | rounds published | 24 | 24 |
|  | holders killed in mid-load | 20 | 20 |
|  | taken over after, median / longest | 1892 / 2017 ms | 1892 / 2017 ms |
| 4 the server stops | published again after, longest | 507 ms | – |

– 4 with SQLite 3: there is no server.
`,
  );
});

it('shows what broke its bound, what brought no result, and the options of the run', () => {
  const [first, second] = run.verdicts;
  const failed = [...killed.slice(1, 2), figure('stale publishes', '3', true)];
  const matrix = faultMatrix({
    ...run,
    options: ['--quick'],
    verdicts: [first, { ...second, isOk: false, figures: failed }],
    broken: ['sqlite: ended with 1'],
  });
  expect(matrix).toContain('`npm run faults -- --quick`');
  expect(matrix).toContain('| 2 killed | rounds published | 24 | **no result** |');
  expect(matrix).toContain('|  | stale publishes | **FAIL** 3 | **no result** |');
  expect(matrix).toContain('\n\nDid not come to its end: sqlite: ended with 1.');
});

it('has a row for a fault that brought no figure with any engine', () => {
  const [, second] = run.verdicts;
  const matrix = faultMatrix({
    ...run,
    verdicts: [{ ...second, isOk: false, figures: [] }],
    leftOut: [],
    engines: ['redis'],
  });
  expect(matrix).toContain('| 2 killed |  | **no result** |');
});

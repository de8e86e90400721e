import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readReport, reasonIn, reportOf } from '../../../src/cluster/fleet-report.ts';
import { readExecutions } from '../../../src/cluster/reported-executions.ts';
import { executionRecord } from '../../../src/data/execution-record.ts';
import type { ReportedExecution } from '../../../src/index.ts';
import { ExecutionLog } from '../../../src/observe/execution-log.ts';
import { ownMember } from '../../support/own-member.ts';

const HOUR = 3_600_000;

/** A log on a wall clock that stands still, with executions that have ended so long ago. */
function logOf(
  now: number,
  ...ended: { ago: number; error?: string; key?: unknown; took?: number }[]
): ExecutionLog {
  let clock = now;
  const log = new ExecutionLog(() => clock, { monotonic: () => clock });
  for (const { ago, error, key, took = 25 } of ended) {
    clock = now - ago;
    const end = { startedAt: clock - took, took, attempts: 2 };
    const start = { trigger: 'due', background: true, key } as const;
    log.add(
      error === undefined
        ? executionRecord(start, end, { outcome: 'loaded' })
        : executionRecord(start, end, { outcome: 'failed', error: new Error(error) }),
    );
  }
  clock = now;
  return log;
}

function reportedBy(...logs: ExecutionLog[]) {
  const members = logs.map((executions, at) => ownMember({ name: `v${at}`, executions, age: at }));
  const { text, fingerprint } = reportOf({ host: 'h', upFor: 0, lasts: 15_000 }, members);
  const read = readReport({ instance: 'a', text, age: 1000 });
  return { text, fingerprint, executions: read?.members.map((member) => member.executions) };
}

describe('the executions in a report', () => {
  it('are those of a member of which one has failed, with ages that go on', () => {
    const failed = { ago: 5000, error: 'HTTP 502', key: '1012', took: 25.4 };
    const { executions } = reportedBy(
      logOf(1e12, { ago: 9000 }, failed, { ...failed, ago: 4000 }),
      logOf(1e12, { ago: 10 }),
    );
    const own = { took: 25, trigger: 'due', attempts: 2 };
    const withError = { ...own, outcome: 'failed', error: 'HTTP 502', key: '"1012"' };
    expect(executions).toEqual([
      [
        { ...withError, ago: 5025 },
        { ...withError, ago: 6025 },
        { ...own, outcome: 'loaded', ago: 10_025, error: undefined, key: undefined },
      ],
      undefined,
    ]);
  });

  it('are there for 24 hours, and cause no report by themselves', () => {
    const failed = (ago: number) => reportedBy(logOf(1e12, { ago, error: 'down' }));
    expect(failed(24 * HOUR).executions?.[0]).toHaveLength(1);
    expect(failed(24 * HOUR + 1).executions).toEqual([undefined]);
    expect(failed(10).fingerprint).toBe(failed(48 * HOUR).fingerprint);
  });

  it('are bounded, those of the members that failed last first', () => {
    const error = 'é'.repeat(10_000);
    const all = Array.from({ length: 30 }, (_, at) => ({ ago: at, error: `${at}${error}` }));
    const none = reportedBy(...Array.from({ length: 150 }, () => logOf(1e12)));
    const some = reportedBy(
      ...Array.from({ length: 150 }, (_, at) =>
        logOf(1e12 + at, ...all.map((one) => ({ ...one, ago: one.ago + at }))),
      ),
    );
    const bytes = ({ text }: { readonly text: string }): number => new TextEncoder().encode(text).length;
    expect(bytes(some) - bytes(none)).toBeLessThanOrEqual(8192);
    const counts = some.executions?.map((one) => one?.length ?? 0);
    expect({ first: counts?.[0], last: counts?.at(-1), most: Math.max(...(counts ?? [])) }).toEqual({
      first: 3,
      last: 0,
      most: 3,
    });
    expect(some.executions?.[0]?.[0]?.error).toHaveLength(200);
  });

  it('have no half of a credential, nor has the error of the member', () => {
    const error = `${'x '.repeat(90)}shop:hunter2hunter2hunter2@db is away`;
    const { executions } = reportedBy(logOf(1e12, { ago: 5000, error }));
    const cut = `${'x '.repeat(90).trimEnd()}…`;
    expect([executions?.[0]?.[0]?.error, reasonIn(new Error(error))]).toEqual([cut, cut]);
  });

  it('are not believed beyond their types', () => {
    const row = [5, 7, 3, 1, 1, 'down', 'key'];
    const read = (...rows: unknown[]): readonly ReportedExecution[] => readExecutions(rows, 0);
    expect(read(row)).toMatchObject([
      { ago: 5, took: 7, outcome: 'failed', trigger: 'due', error: 'down', key: 'key' },
    ]);
    const wrong = [
      null,
      7,
      {},
      [],
      [-1, 7, 3, 1, 1, 0],
      [5, '7', 3, 1, 1, 0],
      [5, 7, 99, 1, 1, 0],
      [5, 7, 3, 'due', 1, 0],
      [5, 7, 'length', 1, 1, 0],
      [5, 7, 3, 'constructor', 1, 0],
    ];
    expect(read(...wrong)).toEqual([]);
    expect(read([5, 7, 3, 1, 1, 'a\nb\u202e', {}])).toMatchObject([{ error: 'a b\\u202e', key: undefined }]);
    expect(read([5, 7, 3, 1, 1, 1])).toMatchObject([{ error: undefined }]); // the same as none before
    expect(readExecutions(Array(1000).fill(row), 0)).toHaveLength(30);
    expect(readExecutions('x', 0)).toEqual([]);
  });

  it('read whatever JSON as nothing, or as what the types say', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (field) => {
        for (const { ago, took, attempts, error = '', key = '' } of readExecutions(field, 1)) {
          expect({ numbers: [ago, took, attempts].every(Number.isFinite), ago: ago >= 1 }).toEqual({
            numbers: true,
            ago: true,
          });
          expect(error.length + key.length).toBeLessThanOrEqual(400);
        }
      }),
      { numRuns: 200 },
    );
  });
});

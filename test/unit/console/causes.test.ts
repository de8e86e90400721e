import { describe, expect, it } from 'vitest';
import { causeOf, firstProblem, isToldBy, linesOf, outagesOf, toldOf } from '../../../src/console/causes.ts';
import { type Level, type MemberRow, rowMaker } from '../../../src/console/rows.ts';
import { type Fleet, RefreshingValue } from '../../../src/index.ts';

function row(name: string, level: Level, cause = 'unknown'): MemberRow {
  const problem = { kind: 'failing' as const, isFatal: false, message: `failed 3 times: ${cause}`, cause };
  const problems = level === 'ok' ? [] : [problem];
  return { id: name, name, kind: 'value', level, problems, here: { state: 'empty' }, cells: [] };
}

/** A line in short: the name, or the number of members and their cause. */
function shown(rows: readonly MemberRow[], ...unfolded: readonly string[]): readonly string[] {
  return linesOf(rows, new Set(unfolded)).map((line) =>
    line.kind === 'cause' ? `${line.count} × ${line.cause}` : `${line.isInside ? '  ' : ''}${line.id}`,
  );
}

describe('members of one cause', () => {
  const down = ['one', 'two', 'three'].map((name) => row(name, 'bad', `HTTP 502 from /${name}`));

  it('are one line in the place of the first, and follow it where it is unfolded', () => {
    const rows = [row('alone', 'bad', 'ETIMEDOUT'), ...down, row('fine', 'ok')];
    expect(shown(rows)).toEqual(['alone', '3 × HTTP 502 from /…', 'fine']);
    expect(shown(rows, 'bad HTTP 502 from /…')).toEqual([
      'alone',
      '3 × HTTP 502 from /…',
      '  one',
      '  two',
      '  three',
      'fine',
    ]);
  });

  it('have failed since the first of them has', () => {
    const [one, two, three] = down.map((each, i) => ({
      ...each,
      here: { ...each.here, failingSince: 3000 - i },
    }));
    const rows = [...([one, two, three] as MemberRow[]), row('four', 'bad', 'HTTP 502 from /four')];
    expect(linesOf(rows, new Set())).toMatchObject([{ count: 4, since: 2998 }]);
    expect(linesOf(down, new Set())).toMatchObject([{ count: 3, since: undefined }]);
  });

  it('are lines of their own where they are two, or of two levels', () => {
    expect(shown(down.slice(1))).toEqual(['two', 'three']);
    const mixed = [...down.slice(1), row('four', 'warn', 'HTTP 502 from /four')];
    expect(shown(mixed)).toEqual(['two', 'three', 'four']);
  });

  it('are not those with notices', () => {
    const notices = ['a', 'b', 'c'].map((name) => row(name, 'note', 'the same'));
    expect(shown(notices)).toEqual(['a', 'b', 'c']);
  });
});

it('the cause of a member is that of its first problem, or what that says; without the name of the member', () => {
  const silent = { kind: 'refused' as const, isFatal: false, message: 'prices: too few' };
  expect(causeOf(row('prices', 'warn', 'no prices here'))).toBe('no … here');
  expect(causeOf({ ...row('prices', 'warn'), problems: [silent] })).toBe('…: too few');
  expect(causeOf(row('prices', 'note', 'older'))).toBeUndefined();
});

describe('an outage of a backend', () => {
  const refused = ', the client reports: connect ECONNREFUSED 10.0.0.1:6379';
  const problem = (kind: 'backend-down' | 'checks-failing', cause: string) => ({
    kind,
    isFatal: false,
    message: `something: ${cause}`,
    cause,
  });
  const down = [
    problem('backend-down', `the backend is unavailable: no answer within 1 s (acquire)${refused}`),
    problem('checks-failing', `the backend is unavailable: no answer within 1 s (versions)${refused}`),
    problem('backend-down', 'the backend is unavailable: no answer within 5 s (set)'),
    problem('backend-down', 'the backend is unavailable: no answer within 750 ms (get)'),
  ];
  const rows = [{ ...row('one', 'unshared'), problems: down }];

  it('is told once for its lock and its store, and whatever step has met it', () => {
    expect(outagesOf(rows)).toEqual([
      `the backend is unavailable: no answer within 1 s${refused}`,
      'the backend is unavailable: no answer within 5 s',
    ]);
  });

  it('tells why reports can not be read, where they are at that backend', () => {
    const reports = (why: string) => `the backend is unavailable: no answer within 1 s (reports)${why}`;
    expect(
      [refused, ', the client reports: another'].map((why) => isToldBy(outagesOf(rows), reports(why))),
    ).toEqual([true, false]);
  });

  it('hides no worse problem of the member', () => {
    const failing = { kind: 'failing' as const, isFatal: false, message: 'failed', cause: 'no such host' };
    const problems = [...down, { kind: 'behind' as const, isFatal: false, message: 'older' }, failing];
    expect(firstProblem({ problems })).toEqual({ first: failing, others: 1 });
    expect(toldOf({ ...row('one', 'warn'), problems }).map(({ level, message }) => [level, message])).toEqual(
      [['warn', 'failed'], ...outagesOf(rows).map((outage) => ['unshared', outage]), ['note', 'older']],
    );
  });
});

it('members that one backup serves are one line, since the first of them is', () => {
  const rows = ['one', 'two', 'three'].map((name, i) => ({
    ...row(name, 'backup'),
    problems: [{ kind: 'backup' as const, isFatal: false, message: 'by a backup, source 2', since: 500 - i }],
  }));
  expect(linesOf(rows, new Set())).toMatchObject([{ count: 3, since: 498, cause: 'by a backup, source 2' }]);
});

it('a task without its backend does not run; a value loads for itself', () => {
  expect(causeOf(row('prices', 'unshared'))).toContain('each instance loads for itself');
  expect(causeOf({ ...row('mail', 'unshared'), kind: 'executor' })).toContain(
    'it does not run when it is due',
  );
});

it('the state of this instance is the present one, not that of its last report', async () => {
  const prices = new RefreshingValue({ name: 'prices', load: () => 1 });
  await prices.get();
  const details = { startedAt: 0, upFor: 9000, seenAgo: 4000, isIdle: false, leftOut: 0, members: [] };
  const instances = ['here', 'other'].map((id) => ({ id, host: id, isHere: id === 'here', ...details }));
  const reported = (id: string) => ({
    id,
    host: id,
    failures: 1,
    error: 'down',
    reason: 'empty',
    version: 1,
  });
  const problemsAsReportedBy = (id: string, isRefused = false) => {
    const [failing, behind] = [[reported(id)], [reported(id)]];
    const refused = isRefused ? [reported(id)] : [];
    const line = { name: 'prices', version: 2, of: 2, holding: 1, failing, behind, refused, pinned: [] };
    const rowOf = rowMaker({ instances, idle: [], members: [line] } as unknown as Fleet, 0, (text) => text);
    return rowOf({ name: 'prices', kind: 'value', member: prices } as never, prices.inspect(), []).problems;
  };
  for (const isRefused of [true, false]) expect(problemsAsReportedBy('here', isRefused)).toEqual([]);
  expect(problemsAsReportedBy('other').map(({ kind }) => kind)).toEqual(['failing-elsewhere', 'behind']);
  expect(problemsAsReportedBy('other', true).map(({ kind }) => kind)).toEqual(['refused', 'behind']);
});

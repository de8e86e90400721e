import { describe, expect, it } from 'vitest';
import { causeOf, linesOf } from '../../../src/console/causes.ts';
import type { Level, MemberRow } from '../../../src/console/rows.ts';

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

describe('the cause of a member', () => {
  it('is that of its first problem, or what that says; without the name of the member', () => {
    const silent = { kind: 'quarantine' as const, isFatal: false, message: 'prices: too few' };
    expect(causeOf(row('prices', 'warn', 'no prices here'))).toBe('no … here');
    expect(causeOf({ ...row('prices', 'warn'), problems: [silent] })).toBe('…: too few');
    expect(causeOf(row('prices', 'note', 'older'))).toBeUndefined();
  });
});

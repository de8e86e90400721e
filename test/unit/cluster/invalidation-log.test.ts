import { describe, expect, it } from 'vitest';
import {
  type InvalidationLog,
  marksAfter,
  outOfDateUpTo,
  withMarks,
} from '../../../src/cluster/invalidation-log.ts';
import type { KeyMark } from '../../../src/data/mark.ts';

const NONE: InvalidationLog = { invalidatedUpTo: 0, droppedUpTo: 0, entries: [] };

const markOf = (mark: KeyMark['mark'], at: number): KeyMark => ({ of: 'key', id: 'nl', mark, at });

describe('the mark of a change of a key that is published after that of a later change', () => {
  it('leaves the later one: a drop stays a drop, of all values before it', () => {
    const log = withMarks(withMarks(NONE, [markOf('dropped', 41)], 46), [markOf('changed', 20)], 57);
    for (const known of [40, 50])
      expect(marksAfter(log, known)).toMatchObject([{ mark: { mark: 'dropped' }, upTo: 41 }]);
    expect(outOfDateUpTo(log, 'nl', undefined)).toBe(41);
  });

  it('does not put a value out of date that was set after it', () => {
    const log = withMarks(withMarks(NONE, [markOf('changed', 60)], 61), [markOf('invalidated', 50)], 65);
    expect(marksAfter(log, 0)).toMatchObject([{ mark: { mark: 'changed' }, upTo: 60 }]);
    expect(outOfDateUpTo(log, 'nl', undefined)).toBe(0);
  });

  it('is a drop for those who have neither, also where the later one is a value', () => {
    const log = withMarks(withMarks(NONE, [markOf('changed', 60)], 61), [markOf('dropped', 50)], 65);
    expect(marksAfter(log, 0)).toMatchObject([{ mark: { mark: 'dropped' }, upTo: 60 }]);
  });
});

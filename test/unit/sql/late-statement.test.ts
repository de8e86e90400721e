import { afterEach, expect, it, vi } from 'vitest';
import { throwIfLate } from '../../../src/backends/sql/client.ts';

afterEach(() => void vi.restoreAllMocks());

// A timer counts from the beginning of its turn: in the last milliseconds before its end the caller may have stopped waiting.
it.each([
  [1000.1, true],
  [1005, true],
  [1005.1, false],
  [1200, false],
])('of a statement whose time ends at %d it is, at 1000, said whether it is late: %s', (endAt, isLate) => {
  vi.spyOn(performance, 'now').mockReturnValue(1000);
  if (isLate) expect(() => throwIfLate(endAt)).toThrow('no connection became free');
  else throwIfLate(endAt);
});

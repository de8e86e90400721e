import { expect, it } from 'vitest';
import { endOf } from '../../../src/backends/sql/end-of.ts';

/** In the order of code points, as databases compare texts here. */
const isBefore = (a: string, b: string): boolean => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;

it.each(['lock/', 'lock/a', 'lock/\u{10ffff}', 'lock/\u{10ffff}\u{10ffff}', 'lock/\ud7ff', 'lock/\uffff'])(
  'all that begin with %j, and no other one, are before its end',
  (prefix) => {
    const end = endOf(prefix);
    for (const more of ['', 'a', '\0', '\u{10ffff}', '\u{10ffff}\u{10ffff}z', '\uffff', '\ud7ff'])
      expect(isBefore(prefix + more, end)).toBe(true);
    const points = Array.from(prefix.replace(/\u{10ffff}+$/u, ''));
    const next = String.fromCodePoint((points.pop()?.codePointAt(0) ?? 0) + 1).replace(
      /[\ud800-\udfff]$/u,
      '\ue000',
    );
    expect(end).toBe(points.join('') + next);
  },
);

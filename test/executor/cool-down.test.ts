import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coolDownMs } from '../../src/executor/cool-down.ts';

describe('coolDownMs', () => {
  it('lies between half and all of the span, grows with failures, and is capped', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1, max: 1e6, noNaN: true }),
        fc.double({ min: 1, max: 10, noNaN: true }),
        fc.double({ min: 1, max: 1000, noNaN: true }),
        fc.integer({ min: 1, max: 5000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (initialMs, factor, times, failures, random) => {
          const coolDown = { initialMs, factor, maxMs: initialMs * times };
          const ms = coolDownMs(coolDown, failures, random);
          const span = Math.min(coolDown.maxMs, initialMs * factor ** (failures - 1));
          expect(ms).toBeGreaterThanOrEqual(span / 2);
          expect(ms).toBeLessThanOrEqual(span);
          expect(ms).toBeGreaterThan(0);
          expect(coolDownMs(coolDown, failures + 1, random)).toBeGreaterThanOrEqual(ms);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fixedRate, RefreshingValue } from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { onEnded } from '../support/events.ts';

const PERIOD = 60_000;
const LONGEST = 5 * PERIOD;

/** The events between two checks of the grid. */
interface Turn {
  readonly elapsed: number;
  /** Of the wall clock. Less than a second is slewing, not a step. */
  readonly step: number;
  readonly took: number;
  readonly fails: boolean;
  readonly forced: boolean;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  elapsed: fc.oneof(
    fc.nat(PERIOD),
    fc.nat(2 * PERIOD),
    fc.constantFrom(0, 1, PERIOD - 1, PERIOD, 7 * PERIOD),
  ),
  step: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    fc.integer({ min: 2000, max: 30 * 3_600_000 }).chain((ms) => fc.constantFrom(ms, -ms)),
  ),
  took: fc.oneof(fc.nat(2000), fc.nat(PERIOD), fc.nat(LONGEST)),
  fails: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.constant(true)),
  forced: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.constant(true)),
});

for (const anchoredAt of [undefined, 12_345] as const) {
  const grid = anchoredAt === undefined ? 'of elapsed time' : 'of the wall clock';
  it(`over thousands of late, long, failed and forced executions and stepped clocks, the grid ${grid} stands`, async () => {
    let executions = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 200, maxLength: 200 }), async (turns) => {
        const clock = new FakeClock();
        let next: Turn = turns[0] as Turn;
        const value = new RefreshingValue({
          name: 'v',
          load: async () => {
            const { took, fails } = next;
            await new Promise<void>((resolve) => void clock.setTimeout(resolve, took));
            if (fails && value.peek() !== undefined) throw new Error('down');
            executions += 1;
            return 1;
          },
          schedule: fixedRate(PERIOD, { anchoredAt }),
          timeout: 2 * LONGEST,
          retry: false,
          coolDown: 5000,
          clock,
          logger: false,
        });
        /** Where an instant of the wall clock is between two of the grid; the grid began at the first start, at 0. */
        const past = (instant: number): number => {
          const since = anchoredAt ?? clock.now() - clock.monotonic();
          return (((instant - since) % PERIOD) + PERIOD) % PERIOD;
        };
        const named: { readonly past: number; readonly wait: number }[] = []; // an error of a listener would only be logged
        onEnded(value, 'loaded', () => {
          const { nextExecuteTime } = value.inspect();
          named.push({ past: past(nextExecuteTime), wait: nextExecuteTime - clock.now() });
        });
        void value.get();
        await clock.advance(LONGEST);
        for (next of turns) {
          await clock.advance(next.elapsed);
          if (next.step !== 0) clock.stepWall(next.step);
          if (next.forced) value.refresh().catch(() => {});
          else void value.get();
          const { failures, nextExecuteTime, running } = value.inspect();
          if (failures === 0 && !running) expect(past(nextExecuteTime)).toBe(0);
        }
        expect(named.filter((each) => each.past !== 0)).toEqual([]);
        expect(named.filter(({ wait }) => wait <= 0 || wait > PERIOD)).toEqual([]);
      }),
      { numRuns: 20 },
    );
    expect(executions).toBeGreaterThan(1000);
  });
}

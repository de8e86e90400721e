import { digestSteps } from '../data/content-digest.ts';
import type { Difference } from '../data/difference.ts';
import { lateImport } from '../data/late-import.ts';
import type { LoadContext } from '../engine/load-context.ts';
import type { Refused } from '../engine/refused.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import type { Clock } from '../time/clock.ts';
import { yieldToEventLoop } from '../time/yield-to-event-loop.ts';

/** Of a refused value, which is not kept. */
type Summary = Pick<Refused, 'digest' | 'differences'>;

/** The longest slice of work on a digest, in milliseconds. */
const SLICE_MS = 5;

/**
 * A refused value, compared with the one before. At once where there is none, and the value is not large.
 *
 * @param deadlineAt that of the load (monotonic): half of the time to it is left to the comparison.
 */
export function summaryOf(
  value: unknown,
  previous: LoadContext['previous'],
  deadlineAt: number,
  options: ResolvedOptions,
): Summary | Promise<Summary> {
  const digest = digestOf(value, options.clock);
  if (previous === undefined && typeof digest === 'string') return { digest };
  return compared(previous, value, digest, deadlineAt, options);
}

async function compared(
  previous: LoadContext['previous'],
  value: unknown,
  digest: string | Promise<string>,
  deadlineAt: number,
  { idOf, clock }: ResolvedOptions,
): Promise<Summary> {
  const summary = { digest: await digest };
  if (previous === undefined) return summary;
  const startedAt = clock.monotonic();
  const untilAt = startedAt + (deadlineAt - startedAt) / 2;
  const yields = (): Promise<void> => {
    if (clock.monotonic() > untilAt) throw new Error('the load must end');
    return yieldToEventLoop();
  };
  try {
    const { differenceOf } = await lateImport(() => import('../data/difference.ts'));
    return {
      ...summary,
      differences: withoutWhole(value, await differenceOf(previous.value, value, idOf, yields)),
    };
  } catch {
    return summary; // there was no time, idOf threw, or a bundler has left the comparison out
  }
}

/** Where the values were compared as wholes the sample is the refused value itself, which is not kept. */
function withoutWhole(value: unknown, differences: Difference): Difference {
  const { changed } = differences;
  const isWhole = typeof value === 'object' && changed.samples[0]?.after === value;
  return isWhole ? { ...differences, changed: { ...changed, samples: [] } } : differences;
}

/** The digest of a value: at once, unless it is large. */
export function digestOf(value: unknown, clock: Pick<Clock, 'monotonic'>): string | Promise<string> {
  const steps = digestSteps(value);
  const slice = (): IteratorResult<undefined, string> => {
    const until = clock.monotonic() + SLICE_MS;
    let step = steps.next();
    while (step.done !== true && clock.monotonic() < until) step = steps.next();
    return step;
  };
  const first = slice();
  if (first.done === true) return first.value;
  return (async () => {
    for (;;) {
      await yieldToEventLoop();
      const step = slice();
      if (step.done === true) return step.value;
    }
  })();
}

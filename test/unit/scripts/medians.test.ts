import { expect, it } from 'vitest';

interface Figure {
  readonly figure: number;
  readonly most: number;
}
interface Medians {
  medians(measure: () => readonly Figure[], pause: (ms: number) => Promise<unknown>): Promise<Figure[]>;
}

const { href } = new URL('../../../scripts/support/medians.mjs', import.meta.url);
const { medians } = (await import(href)) as Medians;

/** The medians of processes that show these figures, one after the other; how many were run, and how often was paused. */
async function of(shown: readonly (readonly number[])[]) {
  let [processes, pauses] = [0, 0];
  const measure = () => (shown[processes++] as readonly number[]).map((figure) => ({ figure, most: 2 }));
  const figures = await medians(measure, async () => (pauses += 1));
  return { figures: figures.map(({ figure }) => figure), processes, pauses };
}

it('one process of three that misses a bound decides nothing', async () => {
  expect(await of([[1], [9], [1]])).toEqual({ figures: [1], processes: 3, pauses: 0 });
});

it('a busy minute, in which all processes miss a bound, is over before it is judged', async () => {
  const busy = [9, 1];
  const quiet = [1, 1];
  const shown = [busy, busy, busy, busy, quiet, quiet, quiet, quiet, quiet];
  expect(await of(shown)).toEqual({ figures: [1, 1], processes: 9, pauses: 3 });
});

it('what always misses its bound is missed', async () => {
  const shown = Array.from({ length: 9 }, (_, at) => [3 + at]);
  expect(await of(shown)).toEqual({ figures: [7], processes: 9, pauses: 3 });
});

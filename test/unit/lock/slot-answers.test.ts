import { expect, it } from 'vitest';
import { SlotAnswers } from '../../../src/backends/redis/slot-answers.ts';
import { OverdueError } from '../../../src/cluster/answer-watch.ts';
import { FakeClock } from '../../../src/testing/fake-clock.ts';

const TIMEOUT_MS = 1000;
const PATIENCE = 0.4;

/** Slots that answer with their names, each so many milliseconds after it was asked; `Infinity`: never. */
function setUp() {
  const clock = new FakeClock();
  const answers = new SlotAnswers(TIMEOUT_MS, clock);
  const ask = (delays: readonly number[]) => {
    const found = { given: undefined as readonly unknown[] | undefined };
    const step = (ms: number) =>
      new Promise<number>((resolve) => {
        if (ms === 0) resolve(ms);
        else if (ms < Infinity) clock.setTimeout(() => resolve(ms), ms);
      });
    void answers.of(delays, step, PATIENCE).then((given) => {
      found.given = given.map((one) => (one instanceof OverdueError ? 'overdue' : one));
    });
    return found;
  };
  return { clock, ask };
}

it('slots that do not answer after others have are overdue after a silence', async () => {
  const { clock, ask } = setUp();
  const found = ask([1, 300, Infinity]);
  await clock.advance(699);
  expect(found.given).toBeUndefined(); // the silence began with the last answer
  await clock.advance(1);
  expect(found.given).toEqual([1, 300, 'overdue']);
});

it('where none has answered, all are waited for', async () => {
  const { clock, ask } = setUp();
  const found = ask([5000, 5300]);
  await clock.advance(5299);
  expect(found.given).toBeUndefined();
  await clock.advance(1);
  expect(found.given).toEqual([5000, 5300]);
});

it('a slot that has answered late is waited for, until it is quick again for ten time-outs', async () => {
  const { clock, ask } = setUp();
  const slow = ask([1, 600]);
  await clock.advance(1000);
  expect(slow.given).toEqual([1, 'overdue']);
  const again = ask([1, 1100]);
  await clock.advance(1100);
  expect(again.given).toEqual([1, 1100]);
  ask([1]);
  await clock.advance(9999);
  const stillSlow = ask([1, 2100]);
  await clock.advance(2100);
  expect(stillSlow.given).toEqual([1, 2100]);
  await clock.advance(10_000);
  const quick = ask([1, 600]);
  await clock.advance(401);
  expect(quick.given).toEqual([1, 'overdue']);
});

it('many silent slots keep no other one from being asked', async () => {
  const { clock, ask } = setUp();
  const found = ask([
    ...Array.from({ length: 320 }, () => Infinity),
    ...Array.from({ length: 180 }, () => 0),
  ]);
  await clock.advance(100 + 400);
  expect(found.given?.filter((one) => one === 0)).toHaveLength(180);
});

it('no slots at all are no answers', async () => {
  const { clock, ask } = setUp();
  const found = ask([]);
  await clock.flush();
  expect(found.given).toEqual([]);
});

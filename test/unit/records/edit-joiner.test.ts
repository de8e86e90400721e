import { expect, it } from 'vitest';
import { EditJoiner } from '../../../src/records/edit-joiner.ts';
import type { Edit } from '../../../src/records/records.ts';
import { Semaphore } from '../../../src/time/semaphore.ts';
import { rejectionOf } from '../../support/settle.ts';

const putOf = (name: string, size: number): Edit => ({ op: 'put', name, text: 'x'.repeat(size), older: 0 });
const tokenOf = (name: string): number => name.charCodeAt(0);
const rowOf = (name: string) => ({
  ...{ token: tokenOf(name), id: '', phase: 'held', text: '', note: '', age: 0, changedAgo: 0, left: 0 },
});

/** Answers with the name; keeps the names of each command. */
function joining(answer: (name: string) => Error | undefined = () => undefined, limit = 32) {
  const commands: string[][] = [];
  const joiner = new EditJoiner(async (edits) => {
    commands.push(edits.map(({ name }) => name));
    const answers = edits.map(({ name }) => answer(name) ?? { isDone: true, row: rowOf(name) as never });
    return { now: 0, answers };
  }, new Semaphore(limit));
  const ask = async (name: string, size = 0): Promise<number | undefined> => {
    const [found] = (await joiner.ask([putOf(name, size)])).answers;
    return found instanceof Error ? undefined : found?.row?.token;
  };
  return { commands, ask };
}

it('steps of one turn are one command, also those that come some microtasks later', async () => {
  const { commands, ask } = joining();
  const late = Promise.resolve()
    .then(() => {})
    .then(() => ask('c'));
  expect(await Promise.all([ask('a'), ask('b'), late])).toEqual(['a', 'b', 'c'].map(tokenOf));
  expect(commands).toEqual([['a', 'b', 'c']]);
});

it('a step alone is a single one', async () => {
  const { commands, ask } = joining();
  expect([await ask('a'), await ask('b')]).toEqual(['a', 'b'].map(tokenOf));
  expect(commands).toEqual([['a'], ['b']]);
});

it('a command has each name once, at most 500 of them, and at most four million characters', async () => {
  const twice = joining();
  await Promise.all([twice.ask('a'), twice.ask('b'), twice.ask('a')]);
  expect(twice.commands).toEqual([['a', 'b'], ['a']]);
  const many = joining();
  await Promise.all(Array.from({ length: 1001 }, (_, i) => many.ask(`${i}`)));
  expect(many.commands.map(({ length }) => length)).toEqual([500, 500, 1]);
  const long = joining();
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => long.ask(name, 1_500_000)));
  expect(long.commands).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

it('an Error among the results is the failure of that step alone', async () => {
  const damaged = new Error('damaged');
  const { ask } = joining((name) => (name === 'b' ? damaged : undefined));
  const steps = [ask('a'), rejectionOf(ask('b')), ask('c')];
  expect(await Promise.all(steps)).toEqual([tokenOf('a'), damaged, tokenOf('c')]);
});

it('a command that throws, or leaves steps out, fails all of its steps', async () => {
  const down = new Error('down');
  const throwing = joining(() => {
    throw down;
  });
  expect(await Promise.all(['a', 'b'].map((name) => rejectionOf(throwing.ask(name))))).toEqual([down, down]);
  const lossy = new EditJoiner(
    async () => ({ now: 0, answers: [{ isDone: true, row: undefined }] }),
    new Semaphore(1),
  );
  const errors = await Promise.all(['a', 'b'].map((name) => rejectionOf(lossy.ask([putOf(name, 0)]))));
  expect(errors).toMatchObject([{ name: 'TypeError' }, { name: 'TypeError' }]);
});

it('steps of later turns join a command that waits for others, whose answers are late', async () => {
  const commands: string[][] = [];
  let answer = (): void => {};
  const turn = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const joiner = new EditJoiner(async (edits) => {
    commands.push(edits.map(({ name }) => name));
    await turn;
    return { now: 0, answers: edits.map(() => ({ isDone: true, row: undefined })) };
  }, new Semaphore(1));
  const asked = [joiner.ask([putOf('a', 0)])];
  for (const name of ['b', 'c', 'd']) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    asked.push(joiner.ask([putOf(name, 0)]));
  }
  answer();
  expect(await Promise.all(asked)).toHaveLength(4);
  expect(commands).toEqual([['a'], ['b', 'c', 'd']]);
});

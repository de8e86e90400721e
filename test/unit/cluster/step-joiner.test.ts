import { expect, it } from 'vitest';
import { StepJoiner } from '../../../src/cluster/step-joiner.ts';
import { Semaphore } from '../../../src/time/semaphore.ts';
import { rejectionOf } from '../../support/settle.ts';

interface Request {
  readonly name: string;
  readonly size?: number;
}

/** Answers with the name; keeps the names of each command. */
function joining(answer: (name: string) => string | Error = (name) => name, limit = 32) {
  const commands: string[][] = [];
  const joiner = new StepJoiner<Request, string>(
    {
      one: async ({ name }) => {
        commands.push([name]);
        return name;
      },
      many: async (requests) => {
        commands.push(requests.map(({ name }) => name));
        return requests.map(({ name }) => answer(name));
      },
      nameOf: ({ name }) => name,
      sizeOf: ({ size = 0 }) => size,
    },
    new Semaphore(limit),
  );
  return { commands, ask: (name: string, size = 0) => joiner.ask({ name, size }) };
}

it('steps of one turn are one command, also those that come some microtasks later', async () => {
  const { commands, ask } = joining();
  const late = Promise.resolve()
    .then(() => {})
    .then(() => ask('c'));
  expect(await Promise.all([ask('a'), ask('b'), late])).toEqual(['a', 'b', 'c']);
  expect(commands).toEqual([['a', 'b', 'c']]);
});

it('a step alone is a single one', async () => {
  const { commands, ask } = joining(() => new Error('not for many'));
  expect([await ask('a'), await ask('b')]).toEqual(['a', 'b']);
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
  const { ask } = joining((name) => (name === 'b' ? damaged : name));
  const steps = [ask('a'), rejectionOf(ask('b')), ask('c')];
  expect(await Promise.all(steps)).toEqual(['a', damaged, 'c']);
});

it('a command that throws, or leaves steps out, fails all of its steps', async () => {
  const down = new Error('down');
  const throwing = joining(() => {
    throw down;
  });
  expect(await Promise.all(['a', 'b'].map((name) => rejectionOf(throwing.ask(name))))).toEqual([down, down]);
  const lossy = new StepJoiner<Request, string>(
    { one: async () => '', many: async () => ['a'], nameOf: ({ name }) => name },
    new Semaphore(1),
  );
  const errors = await Promise.all(['a', 'b'].map((name) => rejectionOf(lossy.ask({ name }))));
  expect(errors).toMatchObject([{ name: 'TypeError' }, { name: 'TypeError' }]);
});

it('steps of later turns join a command that waits for others, whose answers are late', async () => {
  const commands: string[][] = [];
  let answer = (): void => {};
  const turn = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const many = async (names: readonly string[]): Promise<string[]> => {
    commands.push([...names]);
    await turn;
    return [...names];
  };
  const joiner = new StepJoiner<string, string>(
    { one: async (name) => (await many([name]))[0] as string, many, nameOf: (name) => name },
    new Semaphore(1),
  );
  const asked = [joiner.ask('a')];
  for (const name of ['b', 'c', 'd']) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    asked.push(joiner.ask(name));
  }
  answer();
  expect(await Promise.all(asked)).toEqual(['a', 'b', 'c', 'd']);
  expect(commands).toEqual([['a'], ['b', 'c', 'd']]);
});

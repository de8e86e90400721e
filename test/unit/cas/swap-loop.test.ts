import { describe, expect, it } from 'vitest';
import { type Step, SwapLoop } from '../../../src/records/cells/swap-loop.ts';
import { FakeCells } from './fake-cells.ts';

/** Adds a letter to the text, and answers with the text before. */
function adding(name: string, letter: string, looksFirst?: Step<string>['looksFirst']): Step<string> {
  return {
    name,
    looksFirst,
    decide: (text = '') => ({
      swap: { after: text + letter, main: undefined, adds: undefined, drops: [], keepForMs: Infinity },
      answer: text,
    }),
  };
}

/** Changes nothing. */
function looking(name: string): Step<string> {
  return { name, decide: (text = 'none') => ({ answer: text }) };
}

/** What a command asks for of each name. */
const askedIn = (cells: FakeCells): string[][] =>
  cells.calls
    .splice(0)
    .map((changes) => changes.map(({ name, swap }) => `${swap ? 'swap' : 'look'} ${name}`));

/** A loop that knows the clock. */
async function begun(): Promise<{ readonly cells: FakeCells; readonly loop: SwapLoop }> {
  const cells = new FakeCells();
  const loop = new SwapLoop(cells, cells.clock);
  await loop.run([], [{ name: 'clock' }]);
  cells.calls.length = 0;
  return { cells, loop };
}

describe('steps that swap a text', () => {
  it('look first where the clock is not known yet, and then take an unknown text for absent', async () => {
    const cells = new FakeCells();
    const loop = new SwapLoop(cells, cells.clock);
    cells.texts.set('a', 'x');
    expect((await loop.run([adding('a', 'y')])).answers).toEqual(['x']);
    expect(askedIn(cells)).toEqual([['look a'], ['swap a']]);
    expect((await loop.run([adding('b', 'y')])).answers).toEqual(['']);
    expect(askedIn(cells)).toEqual([['swap b']]);
  });

  it('share their commands, whatever their names, and an error of one is its own', async () => {
    const { cells, loop } = await begun();
    cells.answers = ({ name }, own) => (name === 'b' ? new Error('too long') : own);
    const { answers } = await loop.run(['a', 'b', 'c'].map((name) => adding(name, 'x')));
    expect(answers).toEqual(['', new Error('too long'), '']);
    expect(askedIn(cells)).toEqual([['swap a', 'swap b', 'swap c']]);
  });

  it('take a loser again, by the text in its answer: it does not ask, and the others do not wait for it', async () => {
    const { cells, loop } = await begun();
    cells.texts.set('b', 'another');
    const { answers } = await loop.run(['a', 'b'].map((name) => adding(name, 'x')));
    expect(answers).toEqual(['', 'another']);
    expect(askedIn(cells)).toEqual([['swap a', 'swap b'], ['swap b']]);
    expect(cells.texts.get('b')).toBe('anotherx');
  });

  it.each([
    ['fails', 'connection lost'],
    ['would come too late', 'other instances were faster'],
  ])('that are done stay so where the next command of a loser %s', async (how, message) => {
    const { cells, loop } = await begun();
    cells.texts.set('b', 'another');
    cells.before = () => {
      cells.before = () => {
        throw new Error('connection lost');
      };
      if (how !== 'fails') cells.now += cells.timeoutMs;
    };
    const { answers } = await loop.run(['a', 'b'].map((name) => adding(name, 'x')));
    expect(answers).toEqual(['', expect.objectContaining({ message: expect.stringContaining(message) })]);
    cells.before = () => {
      throw new Error('connection lost');
    };
    await expect(loop.run(['a', 'b'].map((name) => adding(name, 'x')))).rejects.toThrow('connection lost');
  });

  it('begin with the text that was seen last, also by a look or a failed swap', async () => {
    const { cells, loop } = await begun();
    cells.texts.set('a', 'x').set('b', 'x');
    await loop.run([], [{ name: 'a' }]);
    await loop.run([looking('b')]);
    cells.calls.length = 0;
    await loop.run([adding('a', 'y', 'if unknown'), adding('b', 'y', 'if unknown')]);
    expect(askedIn(cells)).toEqual([['swap a', 'swap b']]);
  });

  it('look first where they ask for that, unless the text was seen before', async () => {
    const { cells, loop } = await begun();
    for (const _ of [1, 2]) await loop.run([adding('a', 'x', 'if unknown')]);
    expect(askedIn(cells)).toEqual([['look a'], ['swap a'], ['swap a']]);
    await loop.run([adding('a', 'x', 'always')]);
    expect(askedIn(cells)).toEqual([['look a'], ['swap a']]);
  });

  it('that change nothing at the text that was seen last look whether it is still there', async () => {
    const { cells, loop } = await begun();
    await loop.run([adding('a', 'x')]);
    cells.texts.set('a', 'another');
    cells.calls.length = 0;
    expect((await loop.run([looking('a')])).answers).toEqual(['another']);
    expect(askedIn(cells)).toEqual([['look a']]);
  });

  it('look where a swap has failed, and its answer shows the text that was to be there', async () => {
    const { cells, loop } = await begun();
    await loop.run([adding('a', 'x')]);
    cells.texts.set('a', 'another');
    cells.calls.length = 0;
    cells.answers = ({ swap }, own) => {
      cells.answers = (_, later) => later;
      return swap === undefined ? own : { isDone: false, text: swap.before };
    };
    expect((await loop.run([adding('a', 'y')])).answers).toEqual(['another']);
    expect(askedIn(cells)).toEqual([['swap a'], ['look a'], ['swap a']]);
  });

  it('send looks with their first command, and with no other', async () => {
    const { cells, loop } = await begun();
    cells.texts.set('a', 'another').set('b', 'seen');
    const { answers, seen } = await loop.run([adding('a', 'x')], [{ name: 'b' }, { name: 'c' }]);
    expect([answers, seen]).toMatchObject([['another'], [{ text: 'seen' }, { text: undefined }]]);
    expect(askedIn(cells)).toEqual([['swap a', 'look b', 'look c'], ['swap a']]);
  });
});

import { describe, expect, it } from 'vitest';
import { absent, keep, type LoadedOptions, loaded, readLoadResult } from '../../../src/engine/load-result.ts';
import { thrownBy } from '../../support/settle.ts';

const nothing = { isLoaded: false, value: undefined };
const held = { isLoaded: true, value: 'old' };
const single = { allowUndefined: false, isKeyed: false };
const keyed = { ...single, isKeyed: true };
const unsaid = {
  nextExecuteTime: undefined,
  headers: undefined,
  maxStalenessMs: undefined,
  tags: undefined,
};

describe('readLoadResult', () => {
  it('takes a plain value as what was loaded, whatever it is', () => {
    for (const value of ['new', 0, null, false, {}, [], () => 1]) {
      expect(readLoadResult<unknown>(value, held, single)).toEqual({
        outcome: 'loaded',
        value,
        said: unsaid,
      });
    }
  });

  it('takes loaded() and keep() apart', () => {
    const options = {
      nextExecuteTime: 5,
      headers: { etag: 'x' },
      maxStaleness: { seconds: 2 },
      tags: ['a', 'b'],
    };
    const { maxStaleness: _, ...rest } = options;
    const said = { ...rest, maxStalenessMs: 2000 };
    expect(readLoadResult<string>(loaded('new', options), held, single)).toEqual({
      outcome: 'loaded',
      value: 'new',
      said,
    });
    expect(readLoadResult<string>(keep(options), held, single)).toEqual({
      outcome: 'kept',
      value: 'old',
      said,
    });
    expect(readLoadResult<string>(loaded('new'), nothing, single)).toMatchObject({
      value: 'new',
      said: unsaid,
    });
    expect(readLoadResult<string>(keep(), held, single)).toMatchObject({ value: 'old', said: unsaid });
  });

  it('refuses keep() where there is nothing to keep', () => {
    expect(() => readLoadResult(keep(), nothing, single)).toThrow(/keep\(\).*no value/);
  });

  it('takes undefined only where that is a value; one that is kept was accepted before', () => {
    for (const answer of [undefined, loaded(undefined)]) {
      expect(() => readLoadResult(answer, held, single)).toThrow(/undefined.*allowUndefined/);
      const taken = readLoadResult(answer, held, { ...single, allowUndefined: true });
      expect(taken).toMatchObject({ outcome: 'loaded', value: undefined });
    }
    const taken = readLoadResult(keep(), { isLoaded: true, value: undefined }, single);
    expect(taken).toMatchObject({ outcome: 'kept', value: undefined });
  });

  it('takes absent() only of a key', () => {
    expect(readLoadResult(absent(), held, keyed)).toBe('absent');
    expect(() => readLoadResult(absent(), held, single)).toThrow(/absent\(\)/);
  });

  it('refuses loaded() of a promise, whose rejection is then nobody’s', async () => {
    const rejected = Promise.reject(new Error('down'));
    const callable = Object.assign(() => {}, { then: () => {} });
    for (const value of [rejected, { then: () => {} }, callable]) {
      expect(() => readLoadResult<unknown>(loaded(value), held, single)).toThrow(/promise.*await/);
    }
    await new Promise((resolve) => setImmediate(resolve)); // an unhandled rejection would fail this run
  });

  it.each([
    [{ maxStaleness: 0 }, /maxStaleness/],
    [{ maxStaleness: -1 }, /maxStaleness/],
    [{ maxStaleness: Number.NaN }, /maxStaleness/],
    [{ maxStaleness: 'soon' }, /maxStaleness/],
    [{ tags: 'news' }, /tags/],
    [{ tags: new Set(['news']) }, /tags/],
    [{ tags: ['news', 5] }, /tags/],
    [{ tags: null }, /tags/],
  ] as unknown as [LoadedOptions, RegExp][])(
    'refuses what is no age limit, and what are no tags: %j',
    (said, why) => {
      for (const answer of [loaded('new', said), keep(said)]) {
        const error = thrownBy(() => readLoadResult<string>(answer, held, keyed));
        expect(error).toBeInstanceOf(TypeError);
        expect((error as Error).message).toMatch(why);
      }
    },
  );

  it('takes any age limit over 0, and no tags', () => {
    for (const maxStaleness of [0.5, Infinity]) {
      const taken = readLoadResult<string>(loaded('new', { maxStaleness, tags: [] }), held, keyed);
      expect(taken).toMatchObject({ said: { maxStalenessMs: maxStaleness, tags: [] } });
    }
  });
});

describe('what a load returns', () => {
  it('can not be changed', () => {
    for (const answer of [keep(), loaded('x'), absent()]) expect(Object.isFrozen(answer)).toBe(true);
  });

  it('is known to another installed copy', () => {
    const kind = Symbol.for('tickless.answer');
    const kinds = [keep(), loaded('x'), absent()].map((answer) => (answer as never)[kind]);
    expect(kinds).toEqual(['kept', 'loaded', 'absent']);
  });
});

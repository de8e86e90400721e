import { describe, expect, it } from 'vitest';
import { absent, keep, type LoadedOptions, loaded, readLoadResult } from '../../../src/engine/load-result.ts';

const nothing = { isLoaded: false, value: undefined };
const held = { isLoaded: true, value: 'old' };
const ofValue = { kind: 'value' } as const;
const ofKey = { ...ofValue, kind: 'key' } as const;
const read = (returned: unknown, entry: typeof nothing | typeof held = held, options = ofValue as never) =>
  readLoadResult<unknown>(returned, entry, options);

describe('readLoadResult', () => {
  it.each([['new'], [0], [null], [false], [{}], [[]], [() => 1]])('takes a plain value: %j', (value) => {
    expect(read(value)).toEqual({ origin: 'loaded', value, metadata: {} });
  });

  it('takes metadata from loaded() and keep()', () => {
    const rest = { headers: { etag: 'x' }, tags: ['a', 'b'] };
    const options = { ...rest, dueAfter: 5, maxStaleness: { seconds: 2 } };
    const metadata = { ...rest, dueAfterMs: 5, maxStalenessMs: 2000 };
    expect(read(loaded('new', options))).toEqual({ origin: 'loaded', value: 'new', metadata });
    expect(read(keep(options))).toEqual({ origin: 'kept', value: 'old', metadata });
    expect(read(loaded('new'), nothing)).toEqual({ origin: 'loaded', value: 'new', metadata: {} });
    expect(read(keep())).toEqual({ origin: 'kept', value: 'old', metadata: {} });
  });

  it.each([[loaded('new', { maxStalness: 5 } as never)], [keep({ maxStalness: 5 } as never)]])(
    'rejects metadata that is misspelt: %j',
    (returned) => {
      expect(() => read(returned)).toThrow('maxStalness is unknown (did you mean maxStaleness?)');
    },
  );

  it('rejects keep() without a value to keep', () => {
    expect(() => read(keep(), nothing)).toThrow(/keep\(\), but there is no value to keep/);
  });

  it.each([[undefined], [loaded(undefined)]])('takes undefined only of a task: %j', (returned) => {
    expect(() => read(returned)).toThrow('the load returned undefined');
    expect(read(returned, held, { kind: 'task' } as never)).toMatchObject({
      origin: 'loaded',
      value: undefined,
    });
  });

  it('takes absent() for keys only', () => {
    expect(read(absent(), held, ofKey as never)).toBe('absent');
    for (const kind of ['value', 'task']) {
      expect(() => read(absent(), held, { ...ofValue, kind } as never)).toThrow(/absent\(\).*only for keys/);
    }
  });

  it.each([
    [{ maxStaleness: 0 }, 'maxStaleness must be a positive duration, the load returned 0'],
    [{ maxStaleness: -1 }, 'maxStaleness must be a positive duration, the load returned -1'],
    [{ maxStaleness: Number.NaN }, 'maxStaleness must be a positive duration, the load returned NaN'],
    [{ maxStaleness: 'soon' }, 'maxStaleness must be a positive duration, the load returned "soon"'],
    [{ dueAfter: 0 }, 'dueAfter must be a positive duration, the load returned 0'],
    [{ dueAfter: 'soon' }, 'dueAfter must be a positive duration, the load returned "soon"'],
    [{ tags: 'news' }, 'tags must be an array of strings, the load returned "news"'],
    [{ tags: new Set(['news']) }, 'tags must be an array of strings, the load returned {}'],
    [{ tags: ['news', 5] }, 'tags must be an array of strings, the load returned ["news",5]'],
    [{ tags: null }, 'tags must be an array of strings, the load returned null'],
  ] as unknown as [LoadedOptions, string][])('rejects the metadata %j', (metadata, message) => {
    for (const returned of [loaded('new', metadata), keep(metadata)]) {
      expect(() => read(returned)).toThrow(new TypeError(message));
    }
  });

  it.each([0.5, Infinity])('takes an age limit of %d ms, and an empty list of tags', (maxStaleness) => {
    const result = read(loaded('new', { maxStaleness, tags: [] }));
    expect(result).toMatchObject({ metadata: { maxStalenessMs: maxStaleness, tags: [] } });
  });
});

it('the results of keep(), loaded() and absent() are frozen, and known to other installed copies', () => {
  const results = [keep(), loaded('x'), absent()];
  for (const result of results) expect(Object.isFrozen(result)).toBe(true);
  const kind = Symbol.for('tickless.answer');
  expect(results.map((result) => (result as never)[kind])).toEqual(['kept', 'loaded', 'absent']);
});

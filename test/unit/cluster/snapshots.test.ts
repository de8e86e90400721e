import { describe, expect, it } from 'vitest';
import { type Codec, RefreshingValue } from '../../../src/index.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import type { StandardResult, StandardSchema } from '../../../src/schema.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { isOutcome, recordEvents, recordLines, wordsOf } from '../../support/events.ts';
import { partsOn } from '../../support/parts.ts';
import { sealed, sealedLine } from '../../support/sealed-snapshot.ts';

interface Made {
  readonly value: RefreshingValue<unknown>;
  readonly lines: string[];
}

/** Records, and instances that share them. */
function shared(options: { codec?: Codec } = {}) {
  const clock = new FakeClock();
  const records = memoryRecords(clock);
  function instance(
    brings: unknown,
    { schema, ...own }: { codec?: Codec; schema?: StandardSchema } = {},
  ): Made {
    const logger = recordLines();
    const load = async (): Promise<unknown> => brings;
    const value = new RefreshingValue<unknown>({
      name: 'v',
      load,
      clock,
      logger,
      ...(schema && { schema }),
      backend: partsOn(records, { ...options, ...own }),
    });
    return { value, lines: logger.lines };
  }
  return { clock, store: partsOn(records).store, instance };
}

/** What a restarted instance reads of what another one has loaded. */
async function roundTrip(brings: unknown, options: Parameters<typeof shared>[0] = {}): Promise<unknown> {
  const { clock, instance } = shared(options);
  await instance(brings).value.get();
  await clock.flush();
  return instance('loaded anew').value.get();
}

const revived: Codec = {
  format: 'entries/1',
  encode: (value) => JSON.stringify([...(value as Map<string, number>)]),
  decode: (text) => new Map(JSON.parse(text as string) as [string, number][]),
};

describe('the default codec', () => {
  it('that can’t keep a value says so in a line; the value is served all the same', async () => {
    const { clock, store, instance } = shared();
    const brought = { f: () => 1 };
    const { value, lines } = instance(brought);
    expect(await value.get()).toBe(brought);
    await clock.flush();
    expect(await store.read('v')).toBeUndefined();
    const cause = "the default codec can't keep a function (at .f)";
    expect(lines).toEqual([expect.stringMatching(/the snapshot.* can't be written/)]);
    expect(lines[0]).toContain(cause);
  });

  it('a __proto__ in JSON is a property like any other', async () => {
    const { clock, store, instance } = shared();
    await store.write('v', sealed({}, '{"__proto__":{"isAdmin":true},"a":1}'));
    const value = (await instance('anew').value.get()) as Record<string, unknown>;
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(value.isAdmin).toBeUndefined();
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
    await clock.flush();
    const { value: spoofed } = instance('anew');
    const events = recordEvents(spoofed);
    await store.write('v', sealedLine(`{"__proto__":${sealed({}, '1').split('\n')[0]}}`, '1'));
    expect(await spoofed.get()).toBe('anew');
    expect(wordsOf(events)).toContain('refused');
  });
});

describe('a codec of one’s own', () => {
  it('brings back what JSON can’t', async () => {
    const map = new Map([['USD', 1.08]]);
    expect(await roundTrip(map, { codec: revived })).toEqual(map);
  });

  it('does not decode what was written in another format: that is reported and loaded anew', async () => {
    const { clock, instance } = shared();
    await instance({ a: 1 }).value.get();
    await clock.flush();
    const decode = (): never => {
      throw new Error('was asked to decode');
    };
    const { value, lines } = instance('anew', { codec: { ...revived, format: 'entries/2', decode } });
    expect(await value.get()).toBe('anew');
    expect(lines[0]).toContain('it is of the format "json", and the codec reads "entries/2"');
  });

  for (const [how, decode] of Object.entries<() => unknown>({
    throws: () => {
      throw new Error('truncated');
    },
    rejects: () => Promise.reject(new Error('truncated')),
    'throws what is no error': () => {
      throw undefined;
    },
    'brings undefined': () => undefined,
  })) {
    it(`that ${how} makes no difference to readers`, async () => {
      const { clock, instance } = shared();
      await instance('x', { codec: { encode: String, decode: String } }).value.get();
      await clock.flush();
      const { value, lines } = instance('anew', { codec: { encode: String, decode } });
      expect(await value.get()).toBe('anew');
      expect(lines[0]).toMatch(/snapshot of version \d+ rejected/);
    });
  }

  for (const [how, encode] of Object.entries<() => unknown>({
    throws: () => {
      throw new Error('too large');
    },
    rejects: () => Promise.reject(new Error('too large')),
    'answers with neither text nor bytes': () => 5,
  })) {
    it(`whose encode ${how} leaves the value served, and others to load for themselves`, async () => {
      const { clock, store, instance } = shared();
      const { value, lines } = instance('x', { codec: { encode: encode as never, decode: String } });
      expect(await value.get()).toBe('x');
      await clock.flush();
      expect(lines).toHaveLength(1);
      expect(await store.read('v')).toBeUndefined();
    });
  }
});

describe('a schema', () => {
  function schema(validate: (value: unknown) => StandardResult | Promise<StandardResult>): StandardSchema {
    return { '~standard': { version: 1, validate } };
  }

  it('what it makes of the value is what readers get, be it at once or later', async () => {
    const double = (value: unknown): StandardResult => ({ value: (value as number) * 2 });
    for (const validate of [double, async (value: unknown) => double(value)]) {
      const { clock, instance } = shared();
      await instance(21).value.get();
      await clock.flush();
      expect(await instance('loaded anew', { schema: schema(validate) }).value.get()).toBe(42);
    }
  });

  for (const [how, validate] of Object.entries<(value: unknown) => StandardResult | Promise<StandardResult>>({
    refuses: () => ({ issues: [{ message: 'must be a map' }, { message: 'of rates' }] }),
    'refuses later': async () => ({ issues: [{ message: 'must be a map' }, { message: 'of rates' }] }),
    throws: () => {
      throw new Error('must be a map; of rates');
    },
  })) {
    it(`that ${how}: the snapshot counts as absent, and that is reported`, async () => {
      const { clock, instance } = shared();
      await instance('x').value.get();
      await clock.flush();
      const unlessAnew = (value: unknown) => (value === 'anew' ? { value } : validate(value));
      const { value, lines } = instance('anew', { schema: schema(unlessAnew) });
      expect(await value.get()).toBe('anew');
      expect(lines[0]).toContain('must be a map; of rates');
    });
  }
});

describe('hostile payloads', () => {
  async function readOf(
    payload: string,
  ): Promise<Made & { read: unknown; events: ReturnType<typeof recordEvents> }> {
    const { clock, store, instance } = shared();
    await store.write('v', payload);
    const made = instance('anew');
    const events = recordEvents(made.value);
    const read = await made.value.get();
    await clock.flush();
    made.value.inspect();
    return { ...made, read, events };
  }

  it('the envelope that is written is the one that is read', async () => {
    expect((await readOf(sealed({}, '"x"'))).read).toBe('x');
  });

  for (const [what, payload] of Object.entries({
    empty: '',
    'one line': sealed({}, '').slice(0, -1),
    'no JSON': 'hello\n1',
    null: 'null\n1',
    'an array': '[]\n1',
    'of another version': sealed({ tickless: 2 }, '1'),
    'of no format': sealed({ format: undefined }, '1'),
    'due at a text': sealed({ dueIn: 'soon' }, '1'),
    'due never, said wrongly': sealed({ dueIn: undefined }, '1'),
    'of a negative duration': sealed({ took: -1 }, '1'),
    'of an age limit of 0': sealed({ maxStaleness: 0 }, '1'),
    'of an age limit that is a text': sealed({ maxStaleness: '1' }, '1'),
    'with tags that are none': sealed({ tags: 'red' }, '1'),
    'with tags that are numbers': sealed({ tags: [1] }, '1'),
    'absent, of what always is': sealed({ isAbsent: true }, ''),
    'absent, said wrongly': sealed({ isAbsent: 'yes' }, '1'),
    'a body cut off': sealed({}, '{"a":'),
    'of no length': sealed({ length: undefined }, '1'),
    'cut, and JSON all the same': sealed({}, '12345').slice(0, -2),
    'gone on, and JSON all the same': `${sealed({}, '12345')}6`,
    'of which a digit was changed': sealed({}, '12345').replace('12345', '12945'),
    'of which the age was changed': sealed({ age: 5 }, '1').replace('"age":5', '"age":7'),
    'without its checksum': sealed({}, '1').replace(/,"sum":"\w+"/, ''),
    'bytes that are none': sealed({ isBase64: true }, '%%%'),
  })) {
    it(`${what}: never reaches a reader, and is reported`, async () => {
      const { read, events } = await readOf(payload);
      expect(read).toBe('anew');
      expect(events.find(isOutcome('refused'))).toMatchObject({
        version: expect.any(Number),
        error: expect.any(Error),
      });
    });
  }
});

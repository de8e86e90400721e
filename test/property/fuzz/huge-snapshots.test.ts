import { afterEach, describe, expect, it } from 'vitest';
import { sealed } from '../../support/sealed-snapshot.ts';
import { expectReadable, expectUnpolluted } from './support/hostile.ts';
import { HUGE } from './support/runs.ts';
import { heldBy, keyedReadOf, LOADED, payloadOf, readOf, rowOf, StubBackend } from './support/stored.ts';
import { ratioOfTimes } from './support/times.ts';

// Snapshots of tens of megabytes, or nested too deep for the stack: reads end, in a time in proportion to the size.

afterEach(expectUnpolluted);

const DEPTH = 100_000;

async function told(payload: string): Promise<string> {
  const { value, lines } = await readOf(heldBy(new StubBackend(rowOf(payload))), false);
  expect(value).toBe(LOADED);
  expect(lines).toHaveLength(1);
  expectReadable(lines[0] as string);
  return lines[0] as string;
}

describe('a huge text in the store', () => {
  const shapes: Record<string, (size: number) => string> = {
    'of one character': (size) => 'x'.repeat(size),
    'of lines': (size) => '\n'.repeat(size),
    'of quotes': (size) => '"'.repeat(size),
    'of backslashes': (size) => `"${'\\'.repeat(size)}`,
    'of brackets': (size) => '['.repeat(size),
    'of objects in objects': (size) => '{"a":'.repeat(size / 5),
    'of blanks': (size) => ' '.repeat(size),
    'of digits': (size) => '9'.repeat(size),
    'of what looks like the end of an envelope': (size) => ',"sum":"00000000"}'.repeat(size / 18),
    'of the beginning of one': (size) => `{"tickless":1,"format":"${'x'.repeat(size)}`,
    'with a long format': (size) => sealed({ format: 'x'.repeat(size) }, '1'),
    'with many fields': (size) => {
      const fields = Array.from({ length: size / 200 }, (_, index) => [
        `field${index}${'x'.repeat(180)}`,
        index,
      ]);
      return sealed({ ...Object.fromEntries(fields), took: 'x' }, '1');
    },
    'with a body that is cut': (size) => sealed({}, JSON.stringify(Array(size / 2).fill(1))).slice(0, -1),
    'with a body of garbage': (size) => sealed({}, '[1,'.repeat(size / 3)),
    'with a body that is not base64': (size) => sealed({ isBase64: true }, '%'.repeat(size)),
    'with a surrogate that stands alone': (size) => `{"tickless":1}\n${'\ud800'.repeat(size)}`,
  };

  it.each(Object.entries(shapes))('%s: is logged, in linear time', async (_, shape) => {
    const [small, large] = [shape(HUGE / 10), shape(HUGE)];
    expect(
      await ratioOfTimes(
        () => told(small),
        () => told(large),
      ),
    ).toBeLessThan(50);
  });

  it('that is valid is read', async () => {
    for (const value of ['x'.repeat(HUGE), Array(HUGE / 5).fill(1.5)]) {
      const payload = (await payloadOf(value)) as string;
      const { value: read, lines } = await readOf(heldBy(new StubBackend(rowOf(payload))), false);
      expect(lines).toEqual([]);
      expect(JSON.stringify(read) === JSON.stringify(value)).toBe(true);
    }
  });

  it('of a million tags is read, and can be invalidated by one of them', async () => {
    const tags = Array.from({ length: 1e6 }, (_, index) => `t${index}`);
    const { value, cache, clock } = await keyedReadOf(
      heldBy(new StubBackend(rowOf(sealed({ tags }, '"held"')))),
    );
    expect(value).toBe('held');
    cache.invalidateTag('t999999');
    cache.current('k');
    await clock.flush();
    expect(cache.current('k')).toBe(LOADED);
  });
});

describe('nesting too deep for the stack', () => {
  const shapes: Record<string, [string, string]> = {
    arrays: ['[', ']'],
    objects: ['{"a":', '}'],
  };
  it.each(Object.entries(shapes))(
    'in a body, of %s: the value, or one that is loaded',
    async (what, [open, close]) => {
      const middle = what === 'arrays' ? '' : '1';
      const body = open.repeat(DEPTH) + middle + close.repeat(DEPTH);
      const { value, lines, member, clock } = await readOf(
        heldBy(new StubBackend(rowOf(sealed({}, body)))),
        false,
      );
      expect(value === LOADED ? lines : [value]).toHaveLength(1);
      expect(typeof value).toBe(value === LOADED ? 'string' : 'object');
      await clock.advance(5000);
      expect(await member.refresh()).toBe(LOADED);
    },
  );

  it('in an envelope: is logged', async () => {
    const deep = '['.repeat(DEPTH) + ']'.repeat(DEPTH);
    for (const name of ['tags', 'format', 'age', 'tickless', 'other']) {
      const line = `{"tickless":1,"format":"json","dueIn":1,"took":1,"length":1,"${name}":${deep}}\n1`;
      await told(line);
    }
  });

  it('in a loaded value: served, and the failed write is logged', async () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < DEPTH; depth++) deep = [deep];
    const engine = new StubBackend(undefined);
    const { value, lines } = await readOf(heldBy(engine), false, { load: async () => deep });
    expect(value === deep).toBe(true);
    expect(engine.written).toEqual([]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("v: the snapshot can't be written: Maximum call stack size exceeded");
  });
});

import { describe, expect, it } from 'vitest';
import type { ConsoleOptions } from '../../../src/console/index.ts';
import { shrinksAtMost } from '../../../src/guards/index.ts';
import { RefreshGroup } from '../../../src/index.ts';
import { openConsole, type TestConsole } from '../../support/console.ts';

const FIRST = { apple: 1, pear: 2, plum: 3 };
const REFUSED = { apple: 9, pear: 2, fig: 4 };

/** A value and a key whose second load is refused. */
async function refused(options: ConsoleOptions = {}): Promise<TestConsole> {
  const group = new RefreshGroup({ logger: false, retry: false });
  const console = openConsole(options, group);
  let edition: object = FIRST;
  const accept = (value: object): boolean | string => value !== REFUSED || 'too dear';
  const prices = group.value({ name: 'prices', load: async () => edition, accept });
  const shops = group.cache({ name: 'shops', load: async (_: string) => edition, accept });
  await Promise.all([prices.get(), shops.get('north')]);
  edition = REFUSED;
  await Promise.allSettled([prices.refresh(), shops.refresh('north')]);
  return console;
}

describe('a refused value', () => {
  it.each(['id=prices', 'id=shops&key=%22north%22'])('is shown with its changes: %s', async (query) => {
    const console = await refused({ showValue: (value) => value });
    const { body } = await console.get(`api/member?${query}`);
    expect(body.refused).toMatchObject({ reason: 'too dear', size: 3, digest: expect.any(String) });
    expect(body.refused.difference).toMatchObject({ added: 1, removed: 1, changed: 1, unchanged: 1 });
    expect(body.refused.difference.parts).toEqual([
      { id: 'fig', after: '4' },
      { id: 'plum', before: '3' },
      { id: 'apple', before: '1', after: '9' },
    ]);
  });

  it('is counted only where values are not shown', async () => {
    const console = await refused();
    const { refused: shown } = (await console.get('api/member?id=prices')).body;
    expect(shown.difference).toEqual({ added: 1, removed: 1, changed: 1, unchanged: 1, parts: [] });
    expect(shown).not.toHaveProperty('differences');
  });

  it.each([
    ['a key field', (code: number) => ({ code, city: `x${code}` }), {}, [6, 7, 8, 9]],
    [
      'the idOf of its guard',
      (n: number) => ({ plate: `p${n}` }),
      { idOf: ({ plate }: { plate: string }) => plate },
      ['p6', 'p7', 'p8', 'p9'],
    ],
    ['its content', (n: number) => ({ plate: `p${n}` }), {}, [6, 7, 8, 9]],
  ])('is compared row by row, by %s', async (_, row, options, removed) => {
    const group = new RefreshGroup({ logger: false, retry: false });
    const console = openConsole({ showValue: (value) => value }, group);
    let count = 10;
    const load = async () => Array.from({ length: count }, (_, n) => row(n));
    const rows = group.value({ name: 'rows', load, accept: shrinksAtMost(0.3, options as object) });
    await rows.get();
    count = 6;
    await rows.refresh().catch(() => {});
    const { difference } = (await console.get('api/member?id=rows')).body.refused;
    expect(difference).toMatchObject({ added: 0, removed: 4, changed: 0, unchanged: 6 });
    expect(difference.parts.map(({ id }: { id: string }) => id)).toEqual(removed.map(String));
  });

  it('shows long parts from where they differ, and a value without parts as the whole of it', async () => {
    const group = new RefreshGroup({ logger: false, retry: false });
    const console = openConsole({ showValue: (value) => value }, group);
    let end = 'sound';
    const text = group.value({
      name: 'text',
      load: async () => 'x'.repeat(5000) + end,
      accept: (now) => now.endsWith('sound'),
    });
    await text.get();
    end = 'bad';
    await text.refresh().catch(() => {});
    const { parts } = (await console.get('api/member?id=text')).body.refused.difference;
    const lead = `…${'x'.repeat(40)}`;
    expect(parts).toEqual([{ id: 'the whole value', before: `${lead}sound"`, after: `${lead}bad"` }]);
  });
});

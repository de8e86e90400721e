import { afterEach, describe, expect, it } from 'vitest';
import type { ConsoleOptions } from '../../../src/console/index.ts';
import { RefreshGroup } from '../../../src/index.ts';
import { TestConsole } from '../../support/console.ts';

const open: TestConsole[] = [];
afterEach(async () => {
  for (const { handler, group } of open.splice(0)) {
    await handler.close();
    await group.close({ timeout: 0 });
  }
});

const FIRST = { apple: 1, pear: 2, plum: 3 };
const REFUSED = { apple: 9, pear: 2, fig: 4 };

/** A value and a key whose second load is refused. */
async function refused(options: ConsoleOptions = {}): Promise<TestConsole> {
  const group = new RefreshGroup({ logger: false, retry: false });
  const console = new TestConsole({ ...options }, group);
  open.push(console);
  let edition: object = FIRST;
  const accept = (value: object): boolean | string => value !== REFUSED || 'too dear';
  const prices = group.value({ name: 'prices', load: async () => edition, accept });
  const shops = group.cache({ name: 'shops', load: async (_: string) => edition, accept });
  await Promise.all([prices.get(), shops.get('north')]);
  edition = REFUSED;
  await Promise.allSettled([prices.refresh(), shops.refresh('north')]);
  return console;
}

describe('a value in quarantine', () => {
  it.each(['id=prices', 'id=shops&key=%22north%22'])(
    'is shown with what it would change: %s',
    async (query) => {
      const console = await refused({ showValue: (value) => value });
      const { body } = await console.get(`api/quarantine?${query}`);
      expect(body.difference).toMatchObject({ added: 1, removed: 1, changed: 1, unchanged: 1 });
      expect(body.difference.parts).toEqual([
        { id: 'fig', after: '4' },
        { id: 'plum', before: '3' },
        { id: 'apple', before: '1', after: '9' },
      ]);
      expect(JSON.parse(body.value)).toEqual(REFUSED);
    },
  );

  it('is counted only where values are not shown', async () => {
    const console = await refused();
    const { body } = await console.get('api/quarantine?id=prices');
    expect(body.difference).toEqual({ added: 1, removed: 1, changed: 1, unchanged: 1, parts: [] });
    expect(body).not.toHaveProperty('value');
  });

  it('is in no other answer', async () => {
    const console = await refused();
    const { body } = await console.get('api/member?id=prices');
    expect(body.quarantine).toMatchObject({ reason: 'too dear' });
    expect(body.quarantine).not.toHaveProperty('value');
  });

  it('is not found where there is none', async () => {
    const console = await refused();
    for (const query of ['id=unknown', 'id=shops', 'id=shops&key=%22south%22']) {
      expect((await console.get(`api/quarantine?${query}`)).status, query).toBe(404);
    }
  });
});

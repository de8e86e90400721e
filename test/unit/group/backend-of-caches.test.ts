import { expect, test } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { type GroupOptions, RefreshGroup, RefreshingCache, refreshing } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { lockOf } from '../../support/parts.ts';

const load = async (key: string): Promise<string> => `of ${key}`;

/** The names that the members of the group have at its backend once all were read. */
async function world(defaults: (backend: ReturnType<typeof memoryBackend>) => GroupOptions) {
  const clock = new FakeClock();
  const backend = memoryBackend({ clock });
  const group = new RefreshGroup({ clock, ...defaults(backend) });
  const names = async (): Promise<readonly string[]> => {
    await clock.flush();
    return (await lockOf(backend).list()).map(({ name }) => name);
  };
  return { group, names };
}

test('a cache leaves no record of its keys at the backend of its group', async () => {
  for (const defaults of [
    (backend: ReturnType<typeof memoryBackend>) => ({ backend }),
    (lock: ReturnType<typeof memoryBackend>) => ({ lock }),
  ]) {
    const { group, names } = await world(defaults);
    const customers = group.cache({ name: 'customers', load });
    const rates = group.value({ name: 'rates', load: async () => 1 });
    const byCode = refreshing(load, { name: 'by-code', group });
    expect([await customers.get('7'), await rates.get(), await byCode('1012')]).toEqual([
      'of 7',
      1,
      'of 1012',
    ]);
    expect(await names()).toEqual(['rates']);
    expect(group.members().find(({ name }) => name === 'customers')).toMatchObject({
      lock: undefined,
      store: undefined,
    });
  }
});

test("with backend: 'group' it takes part, and so does a function with arguments", async () => {
  const { group, names } = await world((backend) => ({ backend }));
  await group.cache({ name: 'customers', load, backend: 'group' }).get('7');
  await refreshing(load, { name: 'by-code', group, backend: 'group' })('1012');
  await group.value({ name: 'rates', load: async () => 1, backend: 'group' }).get();
  expect(await names()).toEqual(['by-code["1012"]', 'customers["7"]', 'rates']);
});

test('a backend of its own has its records', async () => {
  const { group, names } = await world((backend) => ({ backend }));
  const own = memoryBackend();
  await group.cache({ name: 'cities', load, backend: own }).get('1012');
  expect(await names()).toEqual([]);
  expect((await lockOf(own).list()).map(({ name }) => name)).toEqual(['cities["1012"]']);
});

test("'group' without a backend of a group is refused", () => {
  const rule = /backend must be a backend: its group, if there is one, has none/;
  expect(() => new RefreshingCache({ name: 'customers', load, backend: 'group' })).toThrow(rule);
  expect(() => new RefreshGroup().cache({ name: 'customers', load, backend: 'group' })).toThrow(rule);
  expect(() => new RefreshGroup({ backend: false }).cache({ name: 'c', load, backend: 'group' })).toThrow(
    rule,
  );
  const ofItself = { backend: 'group' } as unknown as GroupOptions;
  expect(() => new RefreshGroup(ofItself)).toThrow(/backend must be a backend, such as/);
});

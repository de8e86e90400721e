import { expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import type { InstanceReport, StoredReport } from '../../../src/cluster/store-contract.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { storeOf, storeOn } from '../../support/parts.ts';
import { recordsOfStore, type StepsOfStore } from '../../support/records-of-steps.ts';

const KIND = { longestName: undefined, options: [] };
const report = (instance: string): InstanceReport => ({ instance, text: '[]', keepFor: 1000 });

it('no instance of one namespace is one of another, or of none', async () => {
  const reported: StoredReport[] = [];
  const versions: StepsOfStore['versions'] = async (names, { instance, text } = report('')) => {
    reported.push({ instance, text, age: -5 });
    return names.map(() => 1);
  };
  const steps: StepsOfStore = {
    read: async () => undefined,
    write: async () => ({ kind: 'written', version: 1 }),
    delete: async () => false,
    versions,
    reports: async (beginning) => reported.filter((one) => one.instance.startsWith(beginning)),
  };
  const open = (namespace?: string) => storeOn(recordsOfStore(steps), { namespace }, KIND);
  const namespaces = [undefined, 'a', 'a/b', '1/a', '1', '/', '/a'];
  const instances = ['b/i', 'i', '/i', 'a/i', '1/a/i'];
  for (const namespace of namespaces) {
    for (const instance of instances) await open(namespace).versions([], report(instance));
  }
  for (const namespace of namespaces) {
    const listed = await open(namespace).reports();
    expect(listed).toEqual(instances.map((instance) => ({ instance, text: '[]', age: 0 })));
  }
});

it('memory: a thousand reports are listed, and those that have expired give way to others', async () => {
  const clock = new FakeClock();
  const store = storeOf(memoryBackend({ clock }));
  await store.versions([], report('brief'));
  await clock.advance(500);
  for (let i = 1; i <= 1000; i += 1) await store.versions([], report(`late ${i}`));
  const instances = async () => (await store.reports()).map(({ instance }) => instance);
  expect([(await instances()).length, (await instances()).includes('late 999')]).toEqual([1000, false]);
  await clock.advance(500);
  expect([(await instances()).length, (await instances()).includes('late 999')]).toEqual([1000, true]);
});

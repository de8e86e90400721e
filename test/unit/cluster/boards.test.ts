import { describe, expect, it } from 'vitest';
import { loaded } from '../../../src/index.ts';
import { type Link, ManualCluster } from '../../support/cluster.ts';
import { keyedInstance, loadKey, readKeysFor } from '../../support/keyed-cluster.ts';
import { rejectionOf } from '../../support/settle.ts';

const own = { schedule: { hours: 1 }, propagateWithin: 1000 } as const;
const tags = Array.from({ length: 10 }, (_, i) => `tag${i}`);

/** Each command takes that long on its way, and as long on its way back. */
function delayed({ clock }: ManualCluster, link: Link, ms: () => number): void {
  const after = (): Promise<void> => new Promise((resolve) => clock.setTimeout(resolve, ms()));
  link.fault = () => ({ arrives: after() });
}

/** Instances of a cache of which the first has loaded a key with each tag. */
async function warmInstances(count: number, timeout?: number) {
  const cluster = new ManualCluster({}, undefined, timeout);
  const instances = Array.from({ length: count }, () => keyedInstance(cluster, own));
  const [first] = instances;
  for (const tag of tags) await loadKey(cluster, first!, tag, loaded(tag, { tags: [tag] }));
  await readKeysFor(cluster, instances, 20, tags);
  for (const { link } of instances) link.take();
  return { cluster, instances };
}

/** The tags whose marks an instance finds that begins now. */
async function marked(cluster: ManualCluster): Promise<string[]> {
  const later = keyedInstance(cluster, own);
  await readKeysFor(cluster, [later], 100, tags);
  return later.calls.map(({ key }) => key).sort();
}

const writes = ({ link }: { readonly link: Link }): number =>
  link.take().filter((step) => step === 'write').length;

describe('a mark on many keys, which all instances keep in one place', () => {
  it('is one command where the others are known, and two where another instance was faster', async () => {
    const { cluster, instances } = await warmInstances(2);
    const [a, b] = instances;
    await a!.cache.invalidateTag('tag0');
    expect(a!.link.take()).toEqual(['write']);
    await a!.cache.invalidateTag('tag1');
    expect(a!.link.take()).toEqual(['write']);
    await b!.cache.invalidateTag('tag2');
    expect(b!.link.take()).toEqual(['write', 'write']);
    await cluster.clock.advance(1);
    expect(await marked(cluster)).toEqual(['tag0', 'tag1', 'tag2']);
  });

  it.each([0, 1, 2, 3, 4])(
    'of ten instances at once is not lost, whatever the order of their commands: %i',
    async (seed) => {
      const { cluster, instances } = await warmInstances(10);
      let state = seed + 1;
      const random = (): number => {
        state = (state * 48_271) % 2_147_483_647;
        return state / 2_147_483_647;
      };
      for (const { link } of instances) delayed(cluster, link, () => Math.floor(random() * 20));
      const marks = instances.map(({ cache }, i) => cache.invalidateTag(tags[i] as string));
      await cluster.clock.advance(2000);
      await Promise.all(marks);
      expect(await marked(cluster)).toEqual(tags);
      const counts = instances.map(writes);
      expect(Math.max(...counts)).toBeLessThanOrEqual(10); // one of them gets on each time
    },
  );

  it('is there once where its answer was lost, also when it is made again with the same words', async () => {
    const { cluster, instances } = await warmInstances(2);
    const [a, b] = instances;
    a!.link.break('answer-lost', 'write');
    expect(await rejectionOf(a!.cache.invalidateTag('tag0'))).toMatchObject({ code: 'BACKEND_DOWN' });
    a!.link.mend();
    await cluster.clock.advance(60_000);
    const refreshed = b!.cache.refresh('tag0', { here: true });
    await cluster.clock.flush();
    b!.calls.at(-1)?.resolve(loaded('loaded since', { tags: ['tag0'] }));
    await refreshed;
    expect(await marked(cluster)).toEqual([]);
    await cluster.clock.advance(1);
    await a!.cache.invalidateTag('tag0');
    expect(await marked(cluster)).toEqual(['tag0']);
  });
});

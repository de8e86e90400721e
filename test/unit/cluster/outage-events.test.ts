import { describe, expect, it } from 'vitest';
import { RefreshGroup, type RefreshingValue, type TicklessEvent } from '../../../src/index.ts';
import { type Link, ManualCluster, type Step, warmOne } from '../../support/cluster.ts';

/** The outages that a source reports, in words. */
function outagesOf(source: Pick<RefreshGroup, 'on'> | Pick<RefreshingValue<string>, 'on'>): string[] {
  const heard: string[] = [];
  (source as RefreshGroup).on('*', (event: TicklessEvent) => {
    if (event.type === 'backend-down') heard.push(`${event.name} ${event.backend} down`);
    if (event.type === 'backend-up') heard.push(`${event.name} ${event.backend} up after ${event.lasted}`);
  });
  return heard;
}

const LOCK: readonly Step[] = ['acquire', 'extend', 'release'];

describe('an outage of a backend', () => {
  it('is reported by each member that meets it, and once to the listeners of their group', async () => {
    const cluster = new ManualCluster();
    const { clock } = cluster;
    const link: Link = cluster.link();
    const { lock, store } = link;
    const group = new RefreshGroup({
      clock,
      logger: false,
      retry: false,
      backend: { lock, store },
      schedule: 1000,
    });
    const [a, b] = ['a', 'b'].map((name) => group.value({ name, load: async () => name }));
    const [ofA, ofB, ofGroup] = [outagesOf(a!), outagesOf(b!), outagesOf(group)];
    const readBoth = async (): Promise<void> => {
      await Promise.all([a!.get(), b!.get()]);
      await clock.advance(31_000);
    };
    link.break('refused', ...LOCK);
    await readBoth();
    await readBoth();
    link.mend();
    await readBoth();
    await readBoth();
    expect(ofA).toEqual(['a lock down', expect.stringMatching(/^a lock up after 62000/)]);
    expect(ofB).toEqual(['b lock down', ofA[1]!.replace('a', 'b')]);
    expect(ofGroup).toEqual([ofA[0], expect.stringMatching('lock up after 62000')]);
  });

  it.each([
    ['lock', LOCK],
    ['store', ['read', 'write']],
  ] as const)(
    'of the %s ends for all members that have reported it, when the backend answers any member',
    async (kind, steps) => {
      const cluster = new ManualCluster();
      const { clock } = cluster;
      const link: Link = cluster.link();
      const { lock, store } = link;
      const shared = {
        clock,
        logger: false,
        retry: false,
        backend: { lock, store },
        schedule: 1000,
      } as const;
      const group = new RefreshGroup({ ...shared, piggyback: false });
      const [a, b, c, unread] = ['a', 'b', 'c', 'unread'].map((name) =>
        group.value({ name, load: async () => name }),
      );
      const [ofA, ofB, ofUnread, ofGroup] = [a!, b!, unread!, group].map(outagesOf);
      link.break('refused', ...steps);
      await Promise.all([a!.get(), b!.get()]);
      await clock.advance(31_000);
      link.mend();
      await c!.get(); // neither a nor b is read again
      await clock.advance(10);
      expect(ofA).toEqual([`a ${kind} down`, `a ${kind} up after 31000`]);
      expect(ofB).toEqual([`b ${kind} down`, `b ${kind} up after 31000`]);
      expect(ofUnread).toEqual([]);
      expect(ofGroup).toEqual([`a ${kind} down`, `a ${kind} up after 31000`]);
      await Promise.all([a!.get(), b!.get()]);
      await clock.advance(10);
      expect([ofA!.length, ofB!.length, ofGroup!.length]).toEqual([2, 2, 2]);
    },
  );

  it('is reported also where a check of the store finds it', async () => {
    const { cluster, a } = await warmOne({ propagateWithin: 100, schedule: 60_000 });
    const heard = outagesOf(a!.value);
    a!.link.break('refused', 'check');
    await cluster.readAfter(200, a!);
    expect(heard).toEqual(['v store down']);
  });
});

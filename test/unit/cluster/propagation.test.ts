import { describe, expect, it } from 'vitest';
import { type Backend, isTicklessError, RefreshGroup, RefreshingValue } from '../../../src/index.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import { SNAPSHOT } from '../../../src/records/names.ts';
import type { Edit } from '../../../src/records/records.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { type Instance, ManualCluster, warmOne, warmPair } from '../../support/cluster.ts';
import { wordsOf } from '../../support/events.ts';
import { manualValue } from '../../support/manual-value.ts';
import { partsOn, recordsWith } from '../../support/parts.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';
import { pinnedOne, twoVersions } from '../../support/two-versions.ts';

const WITHIN = 1000;
/** The next load is far away, so that only checks tell of changes. */
const own = { schedule: { hours: 1 }, propagateWithin: WITHIN } as const;

describe('checks of the store', () => {
  it('take over what another instance has loaded or set, behind readers, without a load', async () => {
    const { cluster, a, b } = await warmPair(own);
    await cluster.refresh(a, 1, 'two');
    await cluster.readFor([b], WITHIN + 50);
    expect([b.value.current, b.value.inspect().lock?.version]).toEqual([
      'two',
      a.value.inspect().lock?.version,
    ]);
    await a.value.set('three');
    await cluster.readFor([b], WITHIN + 50);
    expect([b.value.current, b.manual.calls.length, b.value.inspect().isDue]).toEqual(['three', 0, false]);
    expect(wordsOf(b.events)).toEqual(['adopted', 'adopted']);
  });

  it('are one command in that time, however many reads there are, and none without a read', async () => {
    const { cluster, a } = await warmOne(own);
    await cluster.readFor([a], 10 * WITHIN);
    const sent = a.link.take();
    expect(sent.every((step) => step === 'check')).toBe(true);
    expect(sent.length).toBeGreaterThanOrEqual(9);
    expect(sent.length).toBeLessThanOrEqual(13);
    await cluster.clock.advance(100 * WITHIN);
    expect(a.link.take()).toEqual([]);
  });

  it('are one command for all members of a store object, of each that has a value', async () => {
    const cluster = new ManualCluster();
    const link = cluster.link();
    const values = Array.from({ length: 5 }, (_, i) =>
      manualValue({
        name: `v${i}`,
        clock: cluster.clock,
        backend: { lock: link.lock, store: link.store },
        ...own,
        propagateWithin: WITHIN * (i + 1),
      }),
    );
    for (const { value, manual } of values.slice(1)) {
      void value.get();
      await cluster.clock.flush();
      await cluster.end({ manual }, 0, 'one');
    }
    link.commands.length = 0;
    for (let i = 0; i < 105; i++) {
      values[4]?.value.current;
      await cluster.clock.advance(WITHIN / 100);
    }
    const [first, ...more] = link.commands;
    expect([first?.name, more.length < 2]).toEqual(['v1 v2 v3 v4', true]);
  });

  it('have the time of the member, else that of its group, else 10 seconds', async () => {
    const cluster = new ManualCluster();
    const { clock } = cluster;
    const checksOf = async (given: object): Promise<number> => {
      const { lock, store, commands } = cluster.link();
      const options = { name: 'v', clock, backend: { lock, store }, schedule: { hours: 1 }, ...given };
      const value = new RefreshingValue({ ...options, load: () => 'one' });
      await value.get();
      await cluster.readFor([{ value }], 12_000);
      await value.close();
      return commands.filter(({ step, name }) => step === 'check' && name === 'v').length;
    };
    const byDefault = await checksOf({});
    const ofMember = await checksOf({ propagateWithin: WITHIN });
    const ofGroup = await checksOf({ group: new RefreshGroup({ clock, propagateWithin: 2 * WITHIN }) });
    expect([1, 2]).toContain(byDefault);
    expect([byDefault < ofGroup, ofGroup < ofMember]).toEqual([true, true]);
  });

  it.each([
    ['was set', ({ value }: Instance) => value.set('by hand'), 'by hand'],
    ['was put back', ({ value }: Instance) => value.rollback({ by: 'ann' }), 'one'],
  ])(
    'leave in place what %s here, while it waits for the end of a load elsewhere',
    async (_how, publish, expected) => {
      const cluster = new ManualCluster({ keepVersions: 5 });
      const [a, b] = await cluster.warm(2, own);
      await cluster.refresh(a, 1, 'two');
      await cluster.readFor([a, b], 2 * WITHIN);
      void b.value.refresh();
      await cluster.clock.flush();
      const published = publish(a);
      await cluster.clock.advance(2 * WITHIN); // without reads: a check is due
      b.manual.calls.at(-1)?.resolve('three');
      await cluster.clock.flush();
      await cluster.readFor([a, b], 3 * WITHIN);
      await published;
      expect([a, b].map(({ value }) => value.peek())).toEqual([expected, expected]);
    },
  );

  it('do not read a version again that could not be used', async () => {
    const validate = (value: unknown) =>
      value === 'bad' ? { issues: [{ message: 'bad' }] } : { value: value as string };
    const { cluster, a } = await warmOne(own);
    const b = cluster.instance({ ...own, schema: { '~standard': { version: 1, validate } } });
    await b.value.get();
    b.link.take();
    await a.value.set('bad');
    await cluster.readFor([b], 5 * WITHIN);
    expect([b.value.current, b.link.take().filter((step) => step === 'read').length]).toEqual(['one', 1]);
  });

  it('that fail are reported by inspect and health, with one log line, until one has an answer', async () => {
    const cluster = new ManualCluster();
    const group = new RefreshGroup({ clock: cluster.clock });
    const [b] = await cluster.warm(1, { ...own, group });
    await cluster.readFor([b], 2 * WITHIN);
    const before = b.value.inspect().checks;
    expect(before).toMatchObject({ failingSince: undefined, error: undefined });
    b.link.break('refused', 'check');
    await cluster.readFor([b], 5 * WITHIN);
    const { checks } = b.value.inspect();
    expect(checks?.failingSince).toBeLessThanOrEqual(checks?.checkedAt as number);
    expect(checks?.error?.message).toContain('ECONNREFUSED');
    expect(group.health().problems.find(({ kind }) => kind === 'backend-down')?.message).toMatch(
      /^knows no changes of other instances for [4-6](\.\d)? s: the backend is unavailable: /,
    );
    expect(b.logger.lines.length).toBe(1);
    b.link.mend();
    await cluster.clock.advance(30_000);
    await cluster.readFor([b], 2 * WITHIN);
    expect(b.value.inspect().checks).toMatchObject({ failingSince: undefined, error: undefined });
  });

  it('that fail for one name alone take over the others, and are reported', async () => {
    const clock = new FakeClock();
    const records = memoryRecords(clock);
    const isLost = (edit: Edit | undefined): boolean =>
      edit?.op === 'read' && edit.isBrief === true && edit.name === `${SNAPSHOT}lost`;
    const partly = recordsWith(records, {
      async apply(edits) {
        const { now, answers } = await records.apply(edits);
        return { now, answers: answers.map((one, i) => (isLost(edits[i]) ? new Error('CLUSTERDOWN') : one)) };
      },
    });
    const open = (backend: Backend, name: string) =>
      new RefreshingValue({ name, clock, backend, load: () => 'one', logger: false, ...own });
    const broken = partsOn(partly);
    const here = [open(broken, 'lost'), open(broken, 'sound')];
    for (const value of here) await value.get();
    for (const name of ['lost', 'sound']) await open(partsOn(records), name).set('two');
    for (let at = 0; at < 2 * WITHIN; at += 10) {
      for (const value of here) value.current;
      await clock.advance(10);
    }
    expect(here.map(({ current }) => current)).toEqual(['one', 'two']);
    expect(here[1]?.inspect().checks?.error?.message).toContain('CLUSTERDOWN');
  });

  it('find the store again within the bound, however long it was away', async () => {
    const { cluster, a, b } = await warmPair(own);
    for (const { link } of [a, b]) link.break('no-answer', 'check', 'read');
    await cluster.readFor([b], 300 * WITHIN);
    expect(b.link.take().length).toBeLessThan(300 / 0.8 + 2);
    await a.value.set('two');
    b.link.mend();
    await cluster.readFor([b], WITHIN);
    expect(b.value.current).toBe('two');
  });

  it('are refused without a backend, and for what is not a duration', () => {
    const refused = (options: object): string =>
      String(thrownBy(() => new RefreshingValue({ name: 'v', load: () => 1, ...options })));
    expect(refused({ propagateWithin: 1000 })).toContain('must not be given without a backend');
    const { backend } = new ManualCluster().link();
    expect(refused({ backend, propagateWithin: 0 })).toContain('v: propagateWithin must be');
    expect(new RefreshGroup({ propagateWithin: 1000 }).value({ name: 'v', load: () => 1 }).current).toBe(1);
  });
});

describe('a mark on all instances', () => {
  it('makes their values due, and one of them loads for all', async () => {
    const cluster = new ManualCluster();
    const [a, b, c] = (await cluster.warm(3, own)) as [Instance, Instance, Instance];
    await a.value.invalidate();
    expect(a.link.take()).toEqual(['write']);
    await cluster.readFor([b, c], WITHIN + 30);
    const calls = (): number => b.manual.calls.length + c.manual.calls.length;
    expect([calls(), b.value.current]).toEqual([1, 'one']);
    const loader = b.manual.calls.length === 1 ? b : c;
    await cluster.end(loader, 0, 'two');
    await cluster.readFor([a, b, c], WITHIN + 100);
    expect([a, b, c].map((one) => one?.value.current)).toEqual(['two', 'two', 'two']);
    expect([calls(), a.manual.calls.length]).toEqual([1, 1]);
  });

  it('leaves nothing that is older to an instance that starts later, or that learns of it with its next load', async () => {
    const { cluster, a, b } = await warmPair({ schedule: 1000 });
    await a.value.invalidate();
    const later = cluster.instance();
    void later.value.get();
    await cluster.clock.flush();
    expect(later.manual.calls.length).toBe(1);
    await cluster.end(later, 0, 'two');
    await cluster.readFor([b], 990);
    expect([b.value.peek(), b.manual.calls.length]).toEqual(['two', 0]);
  });

  it('is in the history without a value, and a rollback passes over it', async () => {
    const { a } = await twoVersions();
    await a.value.invalidate({ drop: true });
    const [mark] = await a.value.history();
    expect(mark).toMatchObject({ mark: 'dropped', isPinned: false });
    expect(String(await rejectionOf(a.value.rollback({ by: 'ann', to: mark?.version })))).toContain(
      'to must be a version of a value that the backend keeps',
    );
    await a.value.rollback({ by: 'ann' });
    expect(a.value.current).toBe('two');
  });

  it('does not end a pin, also of one that is not known here', async () => {
    const { a, b, cluster } = await pinnedOne();
    const refused = [a.value.invalidate(), b.value.invalidate()].map(rejectionOf);
    await cluster.clock.advance(100);
    for (const error of refused) expect(isTicklessError(await error, 'PINNED')).toBe(true);
    expect((await a.value.history())[0]).toMatchObject({ isPinned: true });
  });

  it('says so when it could not be published', async () => {
    const { cluster, a } = await warmOne(own);
    a.link.break('refused', 'write');
    const marked = rejectionOf(a.value.invalidate());
    await cluster.clock.advance(1000);
    expect(String(await marked)).toContain('ECONNREFUSED');
    expect(a.value.inspect().isDue).toBe(true);
  });

  it('does not concern a value that was set on one instance after it', async () => {
    const { cluster, a, b } = await warmPair(own);
    await a.value.invalidate({ drop: true });
    await cluster.clock.advance(10);
    b.value.set('by hand');
    await cluster.readFor([b], WITHIN);
    expect(b.value.current).toBe('by hand');
  });
});

import { describe, expect, it } from 'vitest';
import type { FleetMember } from '../../../src/data/fleet.ts';
import { PeriodicExecutor, RefreshingCache, RefreshingValue } from '../../../src/index.ts';
import { LOCK, SNAPSHOT } from '../../../src/records/names.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import {
  type Instance,
  LEASE_MS,
  ManualCluster,
  WITHOUT_CHECKS,
  warmOne,
  warmPair,
} from '../../support/cluster.ts';
import { compareVersions } from '../../support/compare-versions.ts';
import { manualValue } from '../../support/manual-value.ts';
import { partsOn, recordsWith } from '../../support/parts.ts';

const HOUR = 3_600_000;
const hourly = { schedule: { hours: 1 } } as const;

async function memberIn(cluster: ManualCluster, name: string = 'v'): Promise<FleetMember | undefined> {
  return (await cluster.store.fleet()).members.find((member) => member.name === name);
}

/** The next round of all instances; the first one loads, and the result is the number of the load. */
async function nextRound(
  cluster: ManualCluster,
  instances: readonly Instance[],
  call: number,
): Promise<void> {
  const [first, ...others] = instances as [Instance, ...Instance[]];
  await cluster.reloadAfter(HOUR + 100, first, call, `${call}`);
  for (const other of others) await cluster.read(other);
}

describe('the fleet, by the reports of rounds', () => {
  it('has reports in the commands of the leader and of the others, and costs no command', async () => {
    const cluster = new ManualCluster();
    const [a, b, c] = (await cluster.warm(3, hourly)) as [Instance, Instance, Instance];
    await nextRound(cluster, [a, b, c], 1);
    const sent = [a, b, c].map(({ link }) => link.commands.splice(0));
    expect(sent.map((all) => all.map(({ step, report }) => [step, report !== undefined]))).toEqual([
      [['acquire', true], ['write', true]],
      [['acquire', true]],
      [['acquire', true]],
    ]); // biome-ignore format: a line for each instance
    const version = a.value.inspect().lock?.version;
    expect(await memberIn(cluster)).toMatchObject({ version, of: 3, holding: 1, takingOver: 2, behind: [] });
    expect((await memberIn(cluster))?.text).toMatch(
      /^1 of 3 holds version \d+, 2 taking it over, oldest 1 h$/,
    );
  });

  it('shows an instance that has waited for the load of another as taking over its version', async () => {
    const { cluster, a, b } = await warmPair(hourly);
    await cluster.readAfter(HOUR + 100, a);
    await cluster.read(b);
    a.manual.call(1).resolve('two');
    await cluster.readAfter(LEASE_MS, b);
    expect(await memberIn(cluster)).toMatchObject({ of: 2, holding: 1, takingOver: 1, behind: [] });
  });

  it('shows no instance as taking over a version that it does not know of', async () => {
    const { cluster, a } = await warmOne(hourly);
    await a.value.invalidate();
    await cluster.readAfter(60_000, a);
    const [report] = a.link.commands.flatMap((one) => (one.step === 'acquire' && one.report?.text) || []);
    expect(report).toContain('"name":"v"');
    expect(report).not.toContain('takingOver');
  });

  it.each<[string, Parameters<ManualCluster['instance']>[0]]>([
    ['beside a cache', {}],
    ['that replaces an initial value', { initial: { value: 'shipped', loadedAt: 1000 } }],
  ])('shows the first version at once, also %s', async (_, own) => {
    const cluster = new ManualCluster();
    const a = cluster.instance({ ...hourly, ...own });
    const { lock, store } = a.link;
    new RefreshingCache({
      name: 'c',
      load: async () => 1,
      clock: cluster.clock,
      backend: { lock, store },
      propagateWithin: WITHOUT_CHECKS,
    });
    void a.value.get();
    await cluster.clock.flush();
    await cluster.end(a, 0, 'one');
    expect(await memberIn(cluster)).toMatchObject({ of: 1, holding: 1, behind: [] });
  });

  it('numbers its reports, that which takes them back too: they may arrive in another order', async () => {
    const { cluster, a, b } = await warmPair(hourly);
    await nextRound(cluster, [a, b], 1);
    await nextRound(cluster, [a, b], 2);
    await a.value.close();
    const serials = a.link.commands.flatMap(({ report }) => report?.serial ?? []);
    expect(serials).toEqual([3, 4, 5, 6, 7]); // two before, of its first round
  });

  it('takes no report back that may still be on its way, nor where others are left', async () => {
    const { cluster, a } = await warmOne(hourly);
    const apart = { clock: cluster.clock, backend: a.link.backend, propagateWithin: WITHOUT_CHECKS };
    const other = manualValue({ name: 'w', ...apart }).value;
    const answered = a.link.holdOnce('write');
    await cluster.reloadAfter(HOUR, a, 1, 'two');
    await other.close();
    await cluster.clock.advance(60_000); // the round has given up, and the write may still arrive
    const closed = a.value.close();
    await cluster.clock.flush();
    expect((await memberIn(cluster))?.of).toBe(1);
    answered.resolve();
    await closed;
    const { instances } = await cluster.store.fleet();
    const { version = 0 } = (await cluster.store.read('v')) ?? {};
    await compareVersions(a.value, version, version); // reads it
    expect([instances, (await cluster.store.fleet()).instances]).toEqual([[], []]);
  });

  it('shows an instance that fails with its next read, while others load', async () => {
    const { cluster, a, b } = await warmPair(hourly);
    await nextRound(cluster, [a, b], 1);
    await cluster.readAfter(HOUR + 100, b);
    await cluster.fail(b, 0, new Error('ECONNREFUSED'));
    await cluster.reloadAfter(10_000, a, 2, 'three');
    await cluster.readAfter(60_000, b);
    expect((await memberIn(cluster))?.failing).toMatchObject([{ failures: 1, error: 'ECONNREFUSED' }]);
    expect(b.value.peek()).toBe('three');
  });

  it('claims no version that was not written', async () => {
    const { cluster, a } = await warmOne(hourly);
    const other = manualValue({
      name: 'w',
      clock: cluster.clock,
      backend: { lock: a.link.lock, store: a.link.store },
    });
    await cluster.clock.advance(HOUR + 100);
    a.link.break('refused', 'write');
    await cluster.reload(a, 1, 'two');
    await cluster.clock.advance(60_000);
    a.link.mend();
    void other.value.get().catch(() => {});
    await cluster.clock.flush();
    expect(await memberIn(cluster)).toMatchObject({ of: 1, holding: 0, version: undefined });
    expect((await memberIn(cluster))?.oldest).toBeLessThan(HOUR);
  });

  it('claims no version whose value was replaced before it was written', async () => {
    const encoded = new Deferred<string>();
    const encode = (value: unknown) => (value === 'two' ? encoded.promise : `${value}`);
    const cluster = new ManualCluster({ codec: { encode, decode: String } });
    const [a] = await cluster.warm(1, hourly);
    await cluster.reloadAfter(HOUR + 100, a, 1, 'two');
    await cluster.clock.advance(1000); // it is not compared for longer
    await a.value.set('mine', { here: true });
    encoded.resolve('two');
    await cluster.clock.flush();
    expect(a.link.commands.find(({ step }) => step === 'write')?.report).toBeDefined();
    expect(await memberIn(cluster)).toMatchObject({ of: 1, holding: 0, version: undefined });
  });

  it('leaves them to checks where these come soon', async () => {
    const { cluster, a } = await warmOne({ schedule: 1000, propagateWithin: 4000 });
    for (let call = 1; call <= 8; call++) {
      await cluster.reloadAfter(1100, a, call, `${call}`);
    }
    const steps = a.link.commands.filter(({ report }) => report !== undefined).map(({ step }) => step);
    expect(steps.length).toBeGreaterThan(1);
    expect(new Set(steps)).toEqual(new Set(['check']));
  });

  it('has none where commands are not shared', async () => {
    const cluster = new ManualCluster();
    const { records, clock } = cluster;
    const names = new Set<string>();
    const apart = recordsWith(records, {
      sharesCommands: false,
      apply(edits) {
        for (const { name } of edits) names.add(name);
        return records.apply(edits);
      },
    });
    const { value, manual } = manualValue({ clock, backend: partsOn(apart), ...hourly });
    expect(await cluster.load({ value, manual }, 'one')).toBe('one');
    await cluster.clock.flush();
    await value.close();
    expect([...names]).toEqual([`${SNAPSHOT}v`, `${LOCK}v`]);
  });
});

it('an instance of tasks alone stays in the fleet for three of their shortest periods, one with a value for three checks', async () => {
  const lastsOf = async (hasValue: boolean): Promise<number[]> => {
    const cluster = new ManualCluster();
    const { lock, store } = cluster.link();
    const given = { clock: cluster.clock, backend: { lock, store }, ...hourly } as const;
    const daily = new PeriodicExecutor(async () => {}, { ...given, name: 'daily', schedule: { days: 1 } });
    const task = new PeriodicExecutor(async () => {}, { ...given, name: 't' });
    const value = hasValue ? [new RefreshingValue({ ...given, name: 'v', load: async () => 1 })] : [];
    for (let at = 0; at < 12_000; at += 1000) {
      await Promise.all([daily.requestStart(), task.requestStart(), ...value.map((one) => one.get())]);
      await cluster.clock.advance(1000);
    }
    return (await cluster.store.reports()).map(({ text }) => Math.round(JSON.parse(text).lasts / 1000));
  };
  expect([await lastsOf(false), await lastsOf(true)]).toEqual([[3 * 3600], [30]]);
});

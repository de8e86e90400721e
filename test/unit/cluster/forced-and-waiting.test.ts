import { describe, expect, it } from 'vitest';
import { isTicklessError } from '../../../src/index.ts';
import { coldPair, ManualCluster, warmPair } from '../../support/cluster.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

describe('forced loads', () => {
  it('refresh never ignores a live lease: it resolves with the result of the holder', async () => {
    const { cluster, a, b } = await warmPair({ schedule: { hours: 1 } });
    const ofA = a.value.refresh();
    await cluster.clock.flush();
    const ofB = b.value.refresh();
    await cluster.clock.advance(2000);
    expect(b.manual.calls).toHaveLength(0);
    a.manual.call(1).resolve('two');
    await cluster.clock.advance(1000);
    expect(await Promise.all([ofA, ofB])).toEqual(['two', 'two']);
    expect(b.manual.calls).toHaveLength(0);
  });

  it.each([0, 1])(
    'refresh loads anew while the lease of a finished load is still to be released, on instance %i',
    async (who) => {
      const cluster = new ManualCluster();
      const all = await cluster.warm(2);
      await cluster.clock.advance(1030);
      all[0]!.link.break('refused', 'release');
      all[0]!.value.current;
      await cluster.clock.flush();
      all[0]!.manual.call(1).resolve('two');
      await cluster.clock.flush();
      all[1]!.value.current; // stands by for it
      await cluster.clock.advance(300);
      all[1]!.value.current; // takes it over
      await cluster.clock.flush();
      expect(all.map(({ value }) => value.peek())).toEqual(['two', 'two']);
      const { value, manual } = all[who]!;
      const before = manual.calls.length;
      const refreshed = value.refresh();
      await cluster.clock.advance(30);
      all[0]!.link.mend();
      await cluster.clock.advance(1000);
      expect(manual.calls).toHaveLength(before + 1);
      manual.call(before).resolve('three');
      expect(await refreshed).toBe('three');
    },
  );

  it('refresh loads anew where that load is released late, and its version was not known here', async () => {
    const cluster = new ManualCluster({}, 10_000);
    const [a, b] = await cluster.warm(2, { schedule: { hours: 1 } });
    a.link.break('refused', 'release');
    await cluster.refresh(a, 1, 'two');
    b.link.break('refused', 'acquire');
    b.value.invalidate();
    await cluster.reload(b, 0, 'without the lock');
    expect(b.value.peek()).toBe('without the lock');
    b.link.mend();
    await cluster.clock.advance(2000);
    const refreshed = b.value.refresh();
    await cluster.clock.advance(30);
    expect(b.link.take().at(-1)).toBe('acquire');
    a.link.mend();
    await cluster.clock.advance(5000);
    expect(b.manual.calls).toHaveLength(2);
    await cluster.end(b, 1, 'three');
    expect(await refreshed).toBe('three');
  });

  it('refresh loads where the holder that it waits for gives up: the round before has no newer result', async () => {
    const { cluster, a, b } = await warmPair({ schedule: { hours: 1 } });
    void a.value.refresh().catch(() => {});
    await cluster.clock.flush();
    const refreshed = b.value.refresh();
    await cluster.clock.advance(100);
    a.value.set('by hand', { here: true });
    await cluster.end(a, 1, 'superseded');
    await cluster.clock.advance(1000);
    expect(b.manual.calls).toHaveLength(1);
    await cluster.end(b, 0, 'two');
    expect(await refreshed).toBe('two');
  });

  it('invalidate does the same, behind the read that finds it due', async () => {
    const cluster = new ManualCluster();
    const [, b] = await cluster.warm(2, { schedule: { hours: 1 } });
    b.value.invalidate();
    expect(await b.value.get()).toBe('one');
    await cluster.clock.flush();
    expect(b.manual.call(0).context.trigger).toBe('invalidated');
  });

  it('a load that a newer version overtook does not answer an invalidation that came while it ran', async () => {
    const { cluster, a, b } = coldPair();
    const first = a.value.get();
    await cluster.clock.flush();
    await cluster.lock.forceRelease('v', a.value.inspect().lock?.token ?? 0);
    expect(await cluster.load(b, 'newer')).toBe('newer');
    a.value.invalidate();
    const later = a.value.get();
    await cluster.end(a, 0, 'old');
    expect(await first).toBe('old');
    await cluster.clock.advance(1000);
    expect(await settled(later)).toBe('pending');
    await cluster.end(a, 1, 'newest');
    expect(await later).toBe('newest');
  });

  it('a drop while the lease is waited for leaves the load that follows to its end, though its reader gives up', async () => {
    const { cluster, a, b } = coldPair();
    void a.value.get().catch(() => {});
    await cluster.clock.flush();
    const reader = new AbortController();
    const read = rejectionOf(b.value.get({ signal: reader.signal }));
    await cluster.clock.flush();
    b.value.invalidate({ drop: true });
    await cluster.fail(a, 0, new Error('down'));
    await cluster.clock.advance(2000);
    const { signal } = b.manual.call(0).context;
    reader.abort();
    await read;
    expect(signal.aborted).toBe(false);
    await cluster.end(b, 0, 'one');
    expect(b.value.peek()).toBe('one');
  });

  it('a snapshot that was being made before an invalidation, and is there now, is not its answer', async () => {
    const { cluster, a, b } = await warmPair();
    await cluster.readAfter(1030, a);
    await cluster.read(b); // stands by for the snapshot of a
    await cluster.end(a, 1, 'begun before');
    b.value.invalidate();
    await cluster.read(b);
    expect(b.value.peek()).toBe('one');
    await cluster.end(b, 0, 'begun after');
    expect(b.value.peek()).toBe('begun after');
  });

  it('refresh that joins the round of a read gets a load of its own time', async () => {
    const { cluster, a, b } = await warmPair();
    await cluster.reloadAfter(1030, a, 1, 'begun before');
    b.value.current; // would take that over
    expect(await cluster.refresh(b, 0, 'begun after')).toBe('begun after');
  });

  it('where the holder fails, refresh tries at once', async () => {
    const { cluster, a, b } = await warmPair();
    void rejectionOf(a.value.refresh());
    await cluster.clock.flush();
    const refreshed = b.value.refresh();
    await cluster.clock.flush();
    a.manual.call(1).reject(new Error('down'));
    await cluster.clock.advance(60); // the next look; the backoff lasts half a second at least
    b.manual.call(0).resolve('two');
    expect(await refreshed).toBe('two');
  });
});

describe('reads that wait by choice', () => {
  it('patience waits for the snapshot of another, and gives up in time', async () => {
    const { cluster, a, b } = await warmPair();
    await cluster.readAfter(1030, a);
    const short = b.value.get({ patience: 100 });
    const long = b.value.get({ patience: 5000 });
    await cluster.clock.advance(100);
    expect(await short).toBe('one');
    expect(await settled(long)).toBe('pending');
    a.manual.call(1).resolve('two');
    await cluster.clock.advance(1000);
    expect(await long).toBe('two');
    expect(b.manual.calls).toHaveLength(0);
  });

  it('one that may not be served is loaded, also where the round is done for longer', async () => {
    const cluster = new ManualCluster();
    const a = cluster.instance({ schedule: { hours: 1 } });
    const b = cluster.instance({ schedule: 1000, maxStaleness: 2000 });
    await cluster.load(a, 'one');
    expect(await b.value.get()).toBe('one');
    await cluster.clock.advance(2100);
    expect(await cluster.load(b, 'two')).toBe('two');
    await cluster.clock.advance(2100);
    const again = b.value.get();
    await cluster.clock.flush();
    b.manual.call(1).reject(new Error('down'));
    expect(isTicklessError(await rejectionOf(again), 'TOO_STALE')).toBe(true);
  });

  it('a signal ends its own wait for another instance, and nothing else', async () => {
    const { cluster, a, b } = coldPair();
    void a.value.get();
    await cluster.clock.flush();
    const controller = new AbortController();
    const impatient = rejectionOf(b.value.get({ signal: controller.signal }));
    const patient = b.value.get();
    controller.abort(new Error('client gone'));
    expect(await impatient).toMatchObject({ message: 'client gone' });
    a.manual.call(0).resolve('one');
    await cluster.clock.advance(100);
    expect(await patient).toBe('one');
  });
});

describe('while another instance loads', () => {
  it('where it dies, the one that stood by takes over', async () => {
    const { cluster, a, b } = await warmPair();
    await cluster.readAfter(1030, a);
    a.clock.stop();
    for (let read = 0; read < 12 && b.manual.calls.length === 0; read++) {
      b.value.current;
      await cluster.clock.advance(500);
    }
    expect(b.manual.calls).toHaveLength(1);
    expect(cluster.clock.monotonic()).toBeLessThan(1130 + 3000 + 1000);
  });
});

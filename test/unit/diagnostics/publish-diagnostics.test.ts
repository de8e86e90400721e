import { AsyncLocalStorage } from 'node:async_hooks';
import { channel, subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, describe, expect, it } from 'vitest';
import { type LoadMessage, publishDiagnostics } from '../../../src/diagnostics/index.ts';
import { RefreshGroup } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { loadedManualValue, manualValue } from '../../support/manual-value.ts';

const loads = tracingChannel<string, LoadMessage>('tickless:load');
const PHASES = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
const atEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atEnd.splice(0)) end();
});

/** The calls of loads that are published from now on. */
function publishedLoads(): string[] {
  const published: string[] = [];
  for (const phase of PHASES) {
    const hear = (message: unknown): void => {
      const { name, key = '', attempt, trigger, error } = message as LoadMessage;
      const reason = error === undefined ? '' : `: ${(error as Error).message}`;
      published.push(`${phase} ${name}${key} ${trigger} ${attempt}${reason}`);
    };
    loads[phase].subscribe(hear);
    atEnd.push(() => void loads[phase].unsubscribe(hear));
  }
  return published;
}

describe('publishDiagnostics', () => {
  const clock = new FakeClock();

  it('publishes each call of a load, also of a synchronous one, which stays synchronous', async () => {
    const published = publishedLoads();
    const group = new RefreshGroup({ clock, logger: false, retry: false });
    atEnd.push(publishDiagnostics(group));
    const a = group.value({ name: 'a', load: () => 1 });
    expect(a.current).toBe(1);
    expect(published.splice(0)).toEqual(['start a first 1', 'end a first 1']);
    const c = group.cache({ name: 'c', load: async (key: string) => key });
    await c.get('x');
    const async = ['start cx first 1', 'end cx first 1', 'asyncStart cx first 1', 'asyncEnd cx first 1'];
    expect(published).toEqual(async);
  });

  it('publishes errors, and each try', async () => {
    const published = publishedLoads();
    const { value, manual, clock } = manualValue({ retry: { retries: 1, minTimeout: 10, randomize: false } });
    atEnd.push(publishDiagnostics(value));
    const first = value.get();
    manual.call(0).reject(new Error('down'));
    await clock.advance(10);
    manual.call(1).resolve('one');
    await first;
    expect(published.slice(0, 6)).toEqual([
      'start v first 1',
      'end v first 1',
      'error v first 1: down',
      'asyncStart v first 1: down',
      'asyncEnd v first 1: down',
      'start v first 2',
    ]);
    const failing = new RefreshGroup({ clock, logger: false }).executor(
      () => {
        throw new Error('oops');
      },
      { name: 'e' },
    );
    atEnd.push(publishDiagnostics(failing));
    published.length = 0;
    await failing.execute().catch(() => {});
    expect(published.slice(0, 3)).toEqual([
      'start e forced 1',
      'error e forced 1: oops',
      'end e forced 1: oops',
    ]);
  });

  it('lets stores that are bound to the start hold during the load, behind a lock too', async () => {
    const storage = new AsyncLocalStorage<string>();
    loads.start.bindStore(storage, ({ name }) => `load of ${name}`);
    atEnd.push(() => void loads.start.unbindStore(storage));
    const cluster = new ManualCluster();
    const seen: unknown[] = [];
    const load = async (): Promise<string> => {
      await undefined;
      seen.push(storage.getStore());
      return 'one';
    };
    const { value } = cluster.instance({ load });
    atEnd.push(publishDiagnostics(value));
    const read = value.get();
    await cluster.clock.flush();
    expect(await read).toBe('one');
    expect(seen).toEqual(['load of v']);
  });

  it('publishes each event, while it has subscribers and until it is stopped', async () => {
    const { value, clock } = await loadedManualValue();
    const stop = publishDiagnostics(value);
    const types: unknown[] = [];
    const hear = (event: unknown): void => void types.push((event as { type: unknown }).type);
    value.pause();
    subscribe('tickless:event', hear);
    value.resume();
    await clock.advance(1000);
    value.current;
    unsubscribe('tickless:event', hear);
    value.pause();
    subscribe('tickless:event', hear);
    atEnd.push(() => void unsubscribe('tickless:event', hear));
    stop();
    value.resume();
    expect(types).toEqual(['resumed', 'load-started', 'stale-served']);
  });

  it('makes nothing without a subscriber', () => {
    const clock = new FakeClock();
    const { value } = manualValue({ clock });
    atEnd.push(publishDiagnostics(value));
    clock.now = () => expect.fail('an event was made');
    value.pause();
    expect(channel('tickless:event').hasSubscribers).toBe(false);
  });

  it('refuses what is not a member or a group', () => {
    expect(() => publishDiagnostics({} as RefreshGroup)).toThrow(expect.objectContaining({ code: 'OPTION' }));
  });
});

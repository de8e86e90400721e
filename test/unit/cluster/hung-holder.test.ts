import { describe, expect, it } from 'vitest';
import { isTicklessError, type ValueOptions } from '../../../src/index.ts';
import { LEASE_MS, ManualCluster, type PartedOptions } from '../../support/cluster.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

/** A cluster in which the load of the first instance never ends, and another instance without a value. */
async function hung(own: PartedOptions<ValueOptions<string>> = {}) {
  const cluster = new ManualCluster();
  const holder = cluster.instance({ timeout: { hours: 1 } });
  void holder.value.get().catch(() => {});
  await cluster.clock.flush();
  const cold = cluster.instance(own);
  return { cluster, holder, cold, loads: () => cold.manual.calls.length };
}

describe('a holder whose load never ends', () => {
  it('is waited for where nothing may be loaded without the lock', async () => {
    const { cluster, cold, loads } = await hung({ whenBackendDown: 'skip' });
    cold.link.break('refused', 'read');
    const read = cold.value.get();
    await cluster.clock.advance(29_000);
    expect(await settled(read)).toBe('pending');
    expect(loads()).toBe(0);
  });

  it('where both answer, the wait ends with the timeout of the reader, and its error names the holder', async () => {
    const { cluster, cold, loads } = await hung({ timeout: 10_000 });
    const read = rejectionOf(cold.value.get());
    await cluster.clock.advance(10_000);
    const error = await read;
    const { owner, host, token } = (await cluster.lock.inspect('v'))!;
    expect(isTicklessError(error, 'TIMED_OUT')).toBe(true);
    expect(error).toHaveProperty(
      'message',
      expect.stringContaining(
        `load timed out after 10 s, waiting for the load of ${owner} on ${host}: the lease with token ${token}, held for `,
      ),
    );
    expect(loads()).toBe(0);
  });

  it('once its lease is not extended any more, the reader loads in its place', async () => {
    const { cluster, holder, cold, loads } = await hung();
    const read = cold.value.get();
    await cluster.clock.advance(500);
    holder.clock.stop();
    await cluster.clock.advance(LEASE_MS + 1000);
    expect(loads()).toBe(1);
    cold.manual.call(0).resolve('two');
    expect(await read).toBe('two');
  });

  it('a backoff after a failure is no holder: it is waited for, also without the store', async () => {
    const { cluster, holder, cold, loads } = await hung();
    await cluster.fail(holder, 0, new Error('down'));
    cold.link.break('refused', 'read', 'write');
    void cold.value.get().catch(() => {});
    await cluster.clock.flush();
    expect(loads()).toBe(0);
    await cluster.clock.advance(2000);
    expect(loads()).toBe(1);
    expect(cold.manual.call(0).context.token).toBeDefined();
  });
});

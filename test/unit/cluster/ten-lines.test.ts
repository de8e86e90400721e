import { expect, test } from 'vitest';
import { ManualCluster } from '../../support/cluster.ts';

test('one of two instances loads, and the other one adopts the value', async () => {
  const cluster = new ManualCluster();
  const [first, second] = await cluster.warm(2); // both serve 'one'; the period is 1 s
  await cluster.clock.advance(1000);
  await cluster.reload(first, 1, 'two'); // its second load, from the read that is due to the end of the round
  await cluster.read(second); // due too: it finds the round done
  expect(second.value.current).toBe('two');
  expect(second.manual.calls).toHaveLength(0);
});

import type { AcquireAnswer, AcquireRequest, Lease } from '../../src/cluster/lock-contract.ts';

/** The lease of an acquire. Fails when it was not given. */
export async function leaseOf<R extends Pick<AcquireRequest, 'name'>>(
  lock: { acquire(request: R): Promise<AcquireAnswer> },
  request: R,
): Promise<Lease> {
  const answer = await lock.acquire(request);
  if (answer.kind !== 'acquired') throw new Error(`${request.name} is ${answer.kind}`);
  return answer.lease;
}

import { ensure, same } from '../../../src/testing/assert.ts';
import { sleep } from '../../../src/testing/conformance.ts';
import { type LockCaseContext, ROUNDING_MS } from '../../../src/testing/lock/case-context.ts';
import { type BackendCase, type DamagedField, subjectOf } from './backend-case.ts';

/** Two of them damage a lease, the others a hold. */
const FIELDS: readonly (readonly [field: DamagedField, isHold: boolean])[] = [
  ['token', false],
  ['token', true],
  ['leaseUntil', false],
  ['notBefore', true],
  ['state', true],
];

/** Records that were edited by hand. */
export const DAMAGE: readonly BackendCase[] = FIELDS.map(([field, isHold]) => ({
  name: `damage: ${field} of a ${isHold ? 'hold' : 'lease'} is reported once, and the record is replaced`,
  needs: 'damage',
  run: (context) => isReplaced(context, field, isHold),
}));

async function isReplaced(context: LockCaseContext, field: DamagedField, isHold: boolean): Promise<void> {
  const { lock, name } = context;
  const before = await context.acquired();
  same(before.damage, undefined, 'damage before');
  if (isHold) await context.release(before.lease, { as: 'done', holdFor: context.long });
  await subjectOf(context).damage?.(name, field);
  await sleep(context.unit / 10); // the clock of a backend may count milliseconds
  const { lease, damage, now } = await context.acquired({}, context.other);
  ensure(typeof damage === 'string' && damage !== '', `damage must say what was wrong, got ${damage}`);
  ensure(lease.token > before.lease.token, `the token must grow: ${before.lease.token}, then ${lease.token}`);
  ensure(
    lease.token / 1000 - now < 1000,
    `the token must be that of the backend's clock, got ${lease.token}`,
  );
  ensure(lease.remaining <= context.long + ROUNDING_MS, `the lease is ${lease.remaining} ms long`);
  same(await lock.extend(before.lease, context.long), false, 'extend of the holder before');
  await context.untouched(lease, 'after the replacement');
  await context.held({ force: true }, lock);
  same(await lock.release(lease, { as: 'done', holdFor: 0 }), true, 'release');
  const next = await context.acquired();
  same(next.damage, undefined, 'damage of the next lease');
  ensure(next.lease.token > lease.token, `the token must grow: ${lease.token}, then ${next.lease.token}`);
}

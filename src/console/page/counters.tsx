import { type ComponentChild, Fragment } from 'preact';
import type { MemberCounts } from '../../index.ts';
import { showShare } from '../../observe/show-share.ts';
import { grouped } from '../words.ts';
import { duration } from './format.ts';

/** The counts of this instance since it was started. A task has runs, and no reads. */
export function Counters({ of, isTask }: { of: MemberCounts; isTask: boolean }): ComponentChild {
  const { reads, misses, waited, loaded, kept, failed, refused, 'timed-out': timedOut, took } = of;
  const failures = failed + refused + timedOut;
  const loads = loaded + kept + failures;
  const mean = took.count === 0 ? undefined : took.total / took.count;
  const hits = Math.max(0, 1 - misses / reads);
  const rows: Readonly<Record<string, string | number>> = {
    ...(isTask ? {} : { Reads: reads === 0 ? 0 : `${grouped(reads)}, ${showShare(hits)} found a value` }),
    ...some(
      Object.fromEntries(Object.entries(of.readsFailed).map(([code, n]) => [`Reads failed with ${code}`, n])),
    ),
    ...some({ 'Reads that waited': waited, 'Served a due value': of['stale-served'] }),
    ...some({ 'Found it too old': of['too-stale'] }),
    [isTask ? 'Runs' : 'Loads']:
      mean === undefined
        ? loads
        : `${grouped(loads)}, mean ${duration(mean)}, longest ${duration(took.longest)}`,
    ...some({
      [isTask ? 'Failed runs' : 'Failed loads']: failures,
      'Refused values': refused,
      'Nothing new': kept,
    }),
    ...some({ 'Adopted from others': of.adopted, 'Leases taken over': of['took-over'], Evicted: of.evicted }),
    ...some({ Published: of.published, 'Bytes published': of.bytes }),
    ...some({ 'Commands to the lock': of.lockCommands, 'Commands to the store': of.storeCommands }),
  };
  return (
    <section>
      <h2>Since this instance was started</h2>
      <dl>
        {Object.entries(rows).map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === 'number' ? grouped(value) : value}</dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}

function some(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

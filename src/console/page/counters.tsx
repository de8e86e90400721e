import { type ComponentChild, Fragment } from 'preact';
import type { MemberStats } from '../../index.ts';
import { showShare } from '../../observe/show-share.ts';
import { grouped } from '../words.ts';
import { duration } from './format.ts';

/** The counters of this instance since it was started. A task has runs, and no reads. */
export function Counters({ of, isTask }: { of: MemberStats; isTask: boolean }): ComponentChild {
  const {
    reads,
    hitRatio,
    waited,
    servedStale,
    tooStale,
    loads,
    failures,
    rejections,
    kept,
    adopted,
    tookOver,
    readsFailedBy,
  } = of;
  const { loading, published, bytesPublished, lockCommands, storeCommands, evicted } = of;
  const mean = loading.count === 0 ? undefined : loading.total / loading.count;
  const [executions, failed] = isTask ? ['Runs', 'Failed runs'] : ['Loads', 'Failed loads'];
  const found = hitRatio === undefined ? reads : `${grouped(reads)}, ${showShare(hitRatio)} found a value`;
  const rows: Readonly<Record<string, string | number>> = {
    ...(isTask ? {} : { Reads: found }),
    ...some(
      Object.fromEntries(Object.entries(readsFailedBy).map(([code, n]) => [`Reads failed with ${code}`, n])),
    ),
    ...some({ 'Reads that waited': waited, 'Served a due value': servedStale, 'Found it too old': tooStale }),
    [executions]:
      mean === undefined
        ? loads
        : `${grouped(loads)}, mean ${duration(mean)}, longest ${duration(loading.longest)}`,
    ...some({ [failed]: failures, 'Refused values': rejections, 'Nothing new': kept }),
    ...some({ 'Adopted from others': adopted, 'Leases taken over': tookOver, Evicted: evicted }),
    ...some({ Published: published, 'Bytes published': bytesPublished }),
    ...some({ 'Commands to the lock': lockCommands, 'Commands to the store': storeCommands }),
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

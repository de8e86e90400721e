import Table from 'cli-table3';
import type { OriginReport } from '../reports.ts';
import { count, ms, PLAIN, seconds } from '../view.ts';
import type { Accident } from './accident.ts';
import type { Cluster } from './cluster.ts';
import type { Refusal } from './refusal.ts';
import type { Rollback } from './rollback.ts';
import { half, mended } from './script.ts';
import { INSTANCES, PROPAGATE_WITHIN_MS } from './settings.ts';
import type { Story } from './story.ts';
import type { Totals } from './totals.ts';

/** What is known at the end of a run. */
export interface Results {
  readonly cluster: Cluster;
  readonly totals: Totals;
  readonly story: Story;
  readonly origin: OriginReport;
  /** Loads until all instances served for the first time. */
  readonly coldLoads: number;
  /** The rounds in which these were. */
  readonly coldRounds: number;
  /** At PostgreSQL, by the instances. */
  readonly commands: number;
  /** Of them in a second without reads. */
  readonly commandsAtRest: number;
  /** How long the traffic was. */
  readonly seconds: number;
  /** How long leases lasted. */
  readonly leaseMs: number;
}

/** What went wrong. */
export interface Complaints {
  /** By counts, which hold on each machine. */
  readonly wrong: readonly string[];
  /** Took too long: the fault may be that of the machine. */
  readonly late: readonly string[];
}

/** The summary that is printed at the end. */
export function summary(results: Results): string {
  const { cluster, totals, story, origin, coldLoads, commands, commandsAtRest } = results;
  const { rounds } = cluster;
  const { unwanted, timeouts, broken, lost } = totals;
  const facts = new Table({ ...PLAIN, colWidths: [24, 53] });
  const perRound = commands / Math.max(1, rounds.completed) / INSTANCES;
  facts.push(
    ['rounds', `${rounds.completed}, shared by ${INSTANCES} instances`],
    ['loads', rounds.text],
    ['requests at the origin', `${origin.requests}, at most ${origin.mostAtOnce} at a time`],
    ['cold start', `${coldLoads === 1 ? '1 load' : `${coldLoads} loads`} for ${INSTANCES} instances at once`],
    ...accidentRows(story.accident, results.leaseMs),
    ...refusalRows(story.refusal),
    ...rollbackRows(story.rollback),
    ['reads served', `${count(totals.reads)} (${count(totals.reads / results.seconds)} per second)`],
    [
      'errors',
      `${errorCount(totals)} (${unwanted} wrong, ${timeouts} timed out, ${broken} broken, ${lost} lost)`,
    ],
    ['cut off by the kill', `${totals.cutOff} requests that were under way at that instance`],
    ['warm reads that waited', `${totals.waited} of ${count(totals.warmReads)}`],
    ['longest warm read', `${ms(totals.longestWait)}, pauses of the process included`],
    ['versions going back', `${totals.wentBack}`],
    ['longest staleness', `${seconds(totals.oldestServed)} (the oldest value served, pinned or not)`],
    [
      'commands, PostgreSQL',
      `${count(commands)}: ${perRound.toFixed(1)} per round and instance, with checks`,
    ],
    ['a second without reads', `${commandsAtRest} commands`],
  );
  const latency = new Table({
    ...PLAIN,
    head: ['latency', 'reads', 'p50', 'p99', 'max'],
    colWidths: [29, 13, 10, 11, 11],
    colAligns: ['left', 'right', 'right', 'right', 'right'],
  });
  for (const [name, { count: reads, p50, p99, max }] of [
    ['client, no load running', totals.fresh],
    ['client, a load running', totals.reloading],
  ] as const) {
    latency.push([name, count(reads), ms(p50), ms(p99), ms(max)]);
  }
  return `${facts}\n${latency}`;
}

/** What went wrong; empty when the run showed what it is meant to show. No time is judged, but that all came to its end. */
export function complaints({
  cluster,
  totals,
  story: { accident, refusal, rollback },
  origin,
  coldLoads,
  coldRounds,
  commandsAtRest,
}: Results): Complaints {
  const { rounds, takeovers, leasesLost, failures, refusals, members, editionsServed } = cluster;
  // A load that brought nothing: of the kill, of a rollback that came during a load, one that failed, and on a machine that is
  // busy of an instance that was too slow for its lease. That one may not notice, if it publishes before the next one does; but
  // each time another instance takes over, and tells it.
  const mostInVain = takeovers + leasesLost + failures + cluster.aborted + cluster.overruled;
  const inVain = rounds.loads - refusals - rounds.completed;
  const requestsAstray = Math.abs(origin.requests - rounds.loads);
  const isCurrent = members.every(({ report }) => report?.edition === mended.edition);
  const expectations: [boolean, string][] = [
    [totals.reads > 0, 'no reads were served'],
    [totals.unwanted + totals.broken === 0 && totals.lost <= totals.timeouts, 'there were errors'], // what timed out is lost too
    [totals.wentBack === 0, 'an older version was served after a newer one'],
    // Where the machine keeps a process off for a lease, its load is in vain, and another one follows.
    [
      coldLoads >= 1 && coldLoads <= coldRounds + leasesLost,
      `${coldLoads} loads in ${coldRounds} rounds at first`,
    ],
    [rounds.mostPerLease === 1, 'something was loaded twice under one lease'],
    [rounds.loadsWithout <= leasesLost, 'something was loaded without a lease'], // it may be over when its load begins
    [
      inVain > 0 && inVain <= mostInVain,
      `${inVain} accepted loads more than rounds; ${takeovers} takeovers, ${cluster.aborted} loads aborted, ${cluster.overruled} overruled`,
    ],
    [takeovers > leasesLost, `${takeovers} takeovers; the kill and ${leasesLost} lost leases`],
    [origin.mostAtOnce <= takeovers, 'several instances loaded at the same time'],
    [requestsAstray <= leasesLost, `${origin.requests} requests at the origin for ${rounds.loads} loads`],
    [accident?.isFirstAdopted ?? true, 'what was started again had to load'],
    [!editionsServed.has(half.edition), 'the half edition was served'],
    [(rollback?.loads ?? 0) === 0, 'something was loaded while an edition was pinned'],
    [totals.waited === 0, 'reads of a value that was there had to wait'],
    [commandsAtRest === 0, 'there were commands while nobody read'],
  ];
  const inTime: [boolean, string][] = [
    [totals.timeouts === 0, `${totals.timeouts} requests of the traffic timed out`],
    [coldLoads <= 1 + leasesLost, `${coldLoads} loads at the cold start`], // it took longer than a period
    [failures === 0, `${failures} loads or snapshots failed`],
    [rounds.completed > 2, 'there were hardly any rounds'],
    [accident !== undefined, 'the kill was not made up for'],
    [refusal !== undefined, 'the half edition was not refused'],
    [rollback !== undefined, 'the rollback did not come to its end'],
    [isCurrent, 'not all instances serve the last edition'],
  ];
  const broken = (all: [boolean, string][]) => all.filter(([holds]) => !holds).map(([, text]) => text);
  return { wrong: broken(expectations), late: broken(inTime) };
}

function errorCount({ unwanted, timeouts, broken, lost }: Totals): number {
  return unwanted + timeouts + broken + lost;
}

function accidentRows(accident: Accident | undefined, leaseMs: number): [string, string][] {
  if (accident === undefined) return [['kill -9 during a load', 'not made up for']];
  const { victim, heir, tookOverAfter, madeUpAfter, firstValueAfter, isFirstAdopted } = accident;
  const source = isFirstAdopted ? 'from the store, no load' : 'by a load of its own';
  return [
    ['kill -9 during a load', `instance ${victim}`],
    ['taken over', `after ${seconds(tookOverAfter)} by instance ${heir} (the lease: ${seconds(leaseMs)})`],
    ['loaded for all', `${seconds(madeUpAfter)} after the kill`],
    ['started again', `first value after ${seconds(firstValueAfter)}, ${source}`],
  ];
}

function refusalRows(refusal: Refusal | undefined): [string, string][] {
  if (refusal === undefined) return [['half of the codes', 'not refused']];
  return [
    ['half of the codes', `refused ${refusal.count} times, served by none`],
    ['because', refusal.reason],
  ];
}

function rollbackRows(rollback: Rollback | undefined): [string, string][] {
  if (rollback === undefined) return [['rollback', 'not done']];
  const { operator, everywhereAfter, pinnedFor, loads, recoveredAfter } = rollback;
  const bound = seconds(PROPAGATE_WITHIN_MS);
  return [
    ['rollback', `at instance ${operator}, all after ${seconds(everywhereAfter)} (bound ${bound} + read)`],
    ['pinned', `for ${seconds(pinnedFor)}, with ${loads} loads`],
    ['unpinned', `the next edition at all instances after ${seconds(recoveredAfter)}`],
  ];
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FirstOfNotes } from '../../../src/data/backup.ts';
import type { Clock, RefreshingValue } from '../../../src/index.ts';
import { seededRandom } from '../../../src/testing/virtual/seeded-random.ts';
import { virtualCluster } from '../../../src/testing/virtual/virtual-cluster.ts';
import { FILE_FAULTS, writeOrigin } from './file-origin.ts';
import { HTTP_FAULTS, SLOW_MS, virtualFetch } from './http-origin.ts';
import { type Edition, Origin } from './origin.ts';
import { QUERY_FAULTS, QueryOrigin } from './query-origin.ts';
import { RealWork } from './real-work.ts';
import { makeService, type Service } from './service.ts';

const HOUR_S = 3600;
/** Of an instance that has started: it finds the snapshots in the store. */
const LONGEST_READ_MS = 1000;
const STARTED_AT = Date.UTC(2026, 10, 20, 12);
/** A value was the present edition when its source read it, which is not longer before the end of its load than that. */
const LONGEST_ANSWER_MS = SLOW_MS + 2000;
/** After that a source which is well has been asked again: the longest cool-down, a load that hangs, the lease of an instance that was killed. */
const LONGEST_RECOVERY_MS = 120_000 + 30_000 + 30_000 + 5000;

/** The outcome of an hour. */
export interface Hour {
  readonly reads: number;
  /** Reads that have failed, ages that were too young, backups that have stayed: a text each. */
  readonly complaints: readonly string[];
  /** How the loads have ended. */
  readonly counts: Record<'failed' | 'loaded' | 'kept' | 'byBackup' | 'older', number>;
  /** The kinds of faults in answers, in order. */
  readonly faults: readonly string[];
}

/** A virtual hour of three instances that are read each second, with random faults of all sources of their values. */
export async function hourOfFaults(seed: number): Promise<Hour> {
  const folder = mkdtempSync(join(tmpdir(), 'tickless-sources-'));
  try {
    return await hourIn(folder, seed);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function hourIn(folder: string, seed: number): Promise<Hour> {
  const random = seededRandom(seed);
  const work = new RealWork();
  /** That of the cluster, which is made later. */
  const time: Clock = {
    now: () => cluster.clock.now(),
    monotonic: () => cluster.clock.monotonic(),
    setTimeout: (callback, delayMs) => cluster.clock.setTimeout(callback, delayMs),
  };
  const origin = (name: string): Origin => new Origin(name, time, STARTED_AT);
  const [prices, limits, limitsMirror] = [origin('prices'), origin('limits'), origin('limits-mirror')];
  const [pricesMirror, countries, flags] = [origin('prices-mirror'), origin('countries'), origin('flags')];
  const origins = [prices, limits, limitsMirror, pricesMirror, countries, flags];
  const table = new QueryOrigin(flags);
  const counts = { failed: 0, loaded: 0, kept: 0, byBackup: 0, older: 0 };
  const complaints: string[] = [];
  let reads = 0;

  function count(member: RefreshingValue<unknown>): void {
    member.on('load-ended', ({ outcome, error }) => {
      if (outcome === 'failed') {
        counts.failed += 1;
        counts.older += Number(error?.message.includes('older than the one in place'));
      }
      if (outcome === 'loaded') {
        const notes = member.inspect().meta?.firstOf as FirstOfNotes | undefined;
        counts.loaded += 1;
        counts.byBackup += Number((notes?.index ?? 0) > 0);
      }
      if (outcome === 'kept' || outcome === 'adopted') counts.kept += 1;
    });
  }

  const cluster = virtualCluster({
    instances: 3,
    source: () => undefined,
    service: (process): Service => {
      const fetch = virtualFetch([prices, limits, limitsMirror], time, work);
      const service = makeService({ folder, table, fetch, work }, process);
      for (const member of Object.values(service)) count(member as RefreshingValue<unknown>);
      return service;
    },
    now: STARTED_AT,
    seed,
  });

  const complain = (instance: string, text: string): void => {
    complaints.push(`${instance} after ${time.monotonic() / 1000} s: ${text}`);
  };

  /** The guard accepts it, and its age does not hide that its source had a later edition when it was loaded. */
  function checkAge(instance: string, { origin: name, edition, items }: Edition, age: number): void {
    if (items.length === 0) complain(instance, `${name} ${edition} is empty: the guard refuses it`);
    const source = origins.find((one) => one.name === name) as Origin;
    const supersededFor = source.supersededFor(edition);
    if (supersededFor > age + LONGEST_ANSWER_MS)
      complain(instance, `${name} ${edition} is ${age} ms old, but was replaced ${supersededFor} ms ago`);
  }

  /** A backup gives way to the first source, once that is well. */
  function checkOrder(instance: string, first: Origin, notes: FirstOfNotes | undefined): void {
    if (first.healthyFor() > LONGEST_RECOVERY_MS && notes?.index !== 0)
      complain(instance, `${first.name} is well, and its backup is served still`);
  }

  /** The prices that an instance has served last. */
  const served: Map<string, Edition> = new Map();
  /** An edition of the mirror never takes the place of a newer one of the service. */
  function checkEdition(instance: string, now: Edition): void {
    const before = served.get(instance);
    served.set(instance, now);
    if (before?.origin === prices.name && now.origin !== prices.name && now.madeAt < before.madeAt)
      complain(instance, `prices ${before.edition} were replaced by those of an older mirror`);
  }

  /** Reads that are not answered yet, of each instance: when they began. */
  const waiting: Map<string, Set<number>> = new Map(cluster.instances.map(({ name }) => [name, new Set()]));

  async function read(instance: string, service: Service): Promise<void> {
    reads += 3;
    const since = time.monotonic();
    waiting.get(instance)?.add(since);
    try {
      const [ofPrices, ofCountries, ofFlags] = await Promise.all([
        service.prices.read(),
        service.countries.read(),
        service.flags.read(),
      ]);
      checkAge(instance, ofPrices.value, ofPrices.age);
      checkAge(instance, ofCountries.value, ofCountries.age);
      for (const part of Object.values(ofFlags.value)) checkAge(instance, part, ofFlags.age);
      checkEdition(instance, ofPrices.value);
      checkOrder(instance, prices, service.prices.inspect().meta?.firstOf as FirstOfNotes | undefined);
    } catch (error) {
      complain(instance, `a read has failed: ${(error as Error).message}`);
    }
    waiting.get(instance)?.delete(since);
    if (time.monotonic() - since > LONGEST_READ_MS)
      complain(instance, `a read of ${since / 1000} s was slow`);
  }

  const writers: readonly [Origin, () => void][] = [
    [pricesMirror, () => writeOrigin(join(folder, pricesMirror.name), pricesMirror)],
    [countries, () => writeOrigin(join(folder, countries.name), countries)],
    [flags, () => table.write()],
  ];
  const write = (origin: Origin): void => writers.find(([one]) => one === origin)?.[1]();
  const faultsOf = (origin: Origin): readonly string[] => {
    if (origin === flags) return QUERY_FAULTS;
    return origin === countries || origin === pricesMirror ? FILE_FAULTS : HTTP_FAULTS;
  };
  /** Whether something happens in this second that does so each that many seconds. */
  const happens = (seconds: number): boolean => random() < 1 / seconds;

  function disturb(): void {
    for (const origin of origins) {
      if (origin.fault === undefined ? happens(120) : happens(90)) {
        const faults = faultsOf(origin);
        if (origin.fault !== undefined) origin.mend();
        else origin.break(faults[Math.floor(random() * faults.length)] as string);
        write(origin);
      }
    }
    for (const [origin, mirror] of [
      [prices, pricesMirror],
      [limits, limitsMirror],
    ] as const) {
      if (happens(150)) origin.publish();
      if (mirror.editedAt < origin.editedAt && happens(100)) {
        mirror.publish(origin.editedAt);
        write(mirror);
      }
    }
    for (const origin of [countries, flags]) {
      if (!happens(150)) continue;
      origin.publish();
      write(origin);
    }
    for (const instance of cluster.instances) {
      if (instance.isRunning && happens(600)) {
        instance.kill();
        waiting.get(instance.name)?.clear();
        served.delete(instance.name);
      } else if (!instance.isRunning && happens(20)) instance.restart();
    }
  }

  async function pass(seconds: number, before: () => void): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      before();
      for (const one of cluster.instances) if (one.isRunning) void read(one.name, one.service);
      await cluster.flush();
      await work.done();
      await cluster.advance(1000);
      await work.done();
    }
  }

  for (const [, writeNow] of writers) writeNow();
  await pass(5, () => {}); // the first loads
  await pass(HOUR_S, disturb);
  for (const origin of origins) {
    origin.mend();
    write(origin);
  }
  for (const instance of cluster.instances) if (!instance.isRunning) instance.restart();
  await pass(LONGEST_RECOVERY_MS / 1000 + 60, () => {});
  for (const { name, service } of cluster.instances) {
    const values = [
      service.prices.current,
      service.countries.current,
      ...Object.values(service.flags.current),
    ];
    for (const { origin, edition } of values as Edition[])
      if (edition !== [prices, countries, flags, limits].find((one) => one.name === origin)?.edition)
        complain(name, `${origin} ${edition} is served still, after the faults`);
    if (waiting.get(name)?.size !== 0) complain(name, 'a read has not been answered');
  }
  const faults = new Set(origins.flatMap((one) => [...one.faults.keys()]));
  return { reads, complaints, counts, faults: [...faults].sort() };
}

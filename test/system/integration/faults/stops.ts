import { setTimeout as sleep } from 'node:timers/promises';
import { lateWrites } from './late-writes.ts';
import { monotonic } from './messages.ts';
import { begin, type Judge, LEASE, LOAD, loadStarted, publications, quiet, type Stage } from './scenario.ts';

/** How long the record of the next holder is watched after the one before goes on. */
const WATCH_MS = 600;

/** The holder stands still for twice its lease in mid-load, and goes on while the next one loads; then in mid-write. */
export async function stops(stage: Stage, judge: Judge): Promise<void> {
  const { fleet, shared } = stage;
  const times = stage.count(10);
  const own = [600, 600] as const;
  const name = await begin(stage, { behaviour: { loadFor: own, load: 'returns' } });
  const stopped: number[] = [];
  const touched: string[] = [];
  for (let i = 0; i < 2 * times && stopped.length < times; i++) {
    const first = await loadStarted(fleet);
    const others = fleet.numbers.filter((by) => by !== first.by);
    // The next one loads until after the first has gone on.
    fleet.behave({ loadFor: [1.6 * LEASE, 1.6 * LEASE] }, others);
    await sleep(200 * Math.random());
    fleet.signal(first.by, 'SIGSTOP');
    const stoppedAt = monotonic();
    const second = await loadStarted(fleet, ({ token }) => token > first.token);
    fleet.behave({ loadFor: own });
    await sleep(stoppedAt + 2 * LEASE - monotonic());
    const published = publications(fleet, 1);
    const found: string[] = [];
    const before = await shared.lock.inspect(name);
    const goesOnAt = monotonic();
    fleet.signal(first.by, 'SIGCONT');
    if (before?.token !== second.token || before.state !== 'running' || before.leaseLeft === 0) {
      found.push(`not held when the first went on: ${JSON.stringify(before)}`);
    }
    while (monotonic() < goesOnAt + WATCH_MS) {
      const [record, snapshot] = await Promise.all([shared.lock.inspect(name), shared.store.read(name)]);
      const isHeld = record?.token === second.token && record.state === 'running' && record.leaseLeft > 0;
      if (!isHeld) found.push(`lease of ${second.token}: ${JSON.stringify(record)}`);
      if (snapshot?.version === first.token) found.push(`${first.token} is in the store`);
      await sleep(20);
    }
    await published;
    await quiet();
    // On a busy machine it may have been done before the signal came.
    const end = fleet.heard.find((told) => told.kind === 'load-ended' && told.token === first.token);
    if (end !== undefined && end.at < stoppedAt) continue;
    stopped.push(first.token);
    touched.push(...found);
  }
  const lateTimes = stage.count(4);
  const late = await lateWrites(stage, lateTimes);
  fleet.behave({ loadFor: LOAD });
  await fleet.end();

  const { published } = judge.rounds(stage);
  judge.is('holders stopped in mid-load', stopped.length, times);
  judge.none('leases of the next one that were not whole', touched);
  judge.is('results of stopped holders', published.filter(({ token }) => stopped.includes(token)).length, 0);
  const done = fleet.heard.filter(
    (told) =>
      told.kind === 'step' &&
      stopped.includes(told.token ?? 0) &&
      told.took > LEASE && // it was asked for before, and answered after
      /written|true/.test(told.answer),
  );
  judge.is('steps of stopped holders that did something late', done.length, 0);
  const lost = fleet.heard.filter((told) => told.kind === 'event' && told.type === 'lost');
  const learnt = stopped.filter((token) => lost.some((told) => 'token' in told && told.token === token));
  judge.is('holders that learnt of it', learnt.length, times);
  judge.is('holders stopped on their way to the store', late.length, lateTimes);
  judge.is('of their results refused', late.filter((answer) => answer === 'refused').length, lateTimes);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { CONSOLE_PATH } from '../console-path.ts';
import { display } from '../display.ts';
import type { Processes } from '../processes.ts';
import { Rate } from '../rate.ts';
import type { OriginReport } from '../reports.ts';
import { seconds as secondsText } from '../view.ts';
import { Cluster } from './cluster.ts';
import { startDatabase } from './database.ts';
import { type Machine, measureMachine } from './machine.ts';
import { News } from './news.ts';
import { mended, script } from './script.ts';
import { LEASE_MS } from './settings.ts';
import { play, type Story } from './story.ts';
import { complaints, type Results, summary } from './summary.ts';
import { totalsOf } from './totals.ts';
import { line, type Sight, view } from './view.ts';
import { Watch } from './watch.ts';

/** How much longer than it should the story may take: a hang must end. */
const PATIENCE_MS = 180_000;
/** How long nobody reads at the end, and no command is sent. */
const QUIET_MS = 1000;

/** Runs the traffic on all instances, with all that befalls them, and shows how it goes. */
export async function runCluster(
  processes: Processes,
  seconds: number,
): Promise<{ text: string; wrong: readonly string[] }> {
  const machine = measureMachine();
  const leases = `leases last ${secondsText(machine.leaseMs)} instead of ${secondsText(LEASE_MS)}`;
  if (machine.isBusy) console.log(`${busyText(machine)}: ${leases}, and it may take minutes.`);
  console.log(
    'Starts a PostgreSQL with an empty database, and an origin with 44,000 postal codes: some seconds.',
  );
  const starting = startDatabase();
  processes.beforeEnd(() =>
    starting.then(
      (database) => database.close(),
      () => {}, // it leaves nothing behind where it can't start
    ),
  );
  const origin = processes.start<OriginReport>('origin.ts', 0);
  const [database, originUrl] = await Promise.all([starting, origin.url()]);
  await database.commandsServed(); // it counts from here
  console.log('Both are up. Starts four instances: one of them loads, for all.');
  const cluster = new Cluster({ processes, originUrl, databaseUrl: database.url, leaseMs: machine.leaseMs });
  const crashed = Promise.race([origin.crashed, cluster.crashed]);
  crashed.catch(() => {}); // it may come while nobody waits for it: the next wait tells
  await Promise.race([Promise.all(cluster.members.map((member) => member.start())), crashed]);
  console.log('The console, on each instance; the one that is killed goes away with it:');
  for (const { url } of cluster.members) console.log(`  ${url}${CONSOLE_PATH}/`);
  const { loads: coldLoads, loaded: coldRounds } = cluster.rounds;

  const watch = new Watch(database.url);
  const startedAt = performance.now();
  cluster.news = new News(startedAt, (item) => process.stdout.isTTY || console.log(item));
  for (const member of cluster.members) member.beginTraffic();
  origin.send({ script, seconds, repeat: false });
  const rate = new Rate();
  const sight = (): Sight => ({
    cluster,
    origin: origin.report,
    record: watch.record,
    readsPerSecond: rate.perSecond(cluster.reads),
    secondsPassed: (performance.now() - startedAt) / 1000,
    seconds,
  });
  const stopShowing = display({ view: () => view(sight()), line: () => line(sight()) });
  const signal = AbortSignal.timeout(seconds * 1000 + PATIENCE_MS);
  let story: Story = {};
  try {
    const isOver = Promise.all([play(cluster, origin, seconds, signal), sleep(seconds * 1000)]);
    [story] = await Promise.race([isOver, crashed]);
    await Promise.race([caughtUp(cluster, signal), crashed]);
  } finally {
    for (const member of cluster.members) member.stopTraffic();
    stopShowing();
  }
  const secondsOfTraffic = (performance.now() - startedAt) / 1000;
  await Promise.race([atRest(cluster), crashed]);
  await watch.stop();
  const commands = (await database.commandsServed()) - watch.commands;
  const commandsAtRest = await commandsOfQuiet(() => database.commandsServed());
  if (origin.report === undefined) throw new Error('the origin never reported');
  const results: Results = {
    cluster,
    totals: await totalsOf(cluster),
    story,
    origin: origin.report,
    coldLoads,
    coldRounds,
    commands,
    commandsAtRest,
    seconds: secondsOfTraffic,
    leaseMs: machine.leaseMs,
  };
  const { wrong, late } = complaints(results);
  // It may have become busy since.
  const slow = [machine, ...(late.length > 0 ? [measureMachine()] : [])].find(({ isBusy }) => isBusy);
  if (slow === undefined) return { text: summary(results), wrong: [...wrong, ...late] };
  const notes = late.map((complaint) => `${busyText(slow)}, which is no fault: ${complaint}.`);
  return { text: [summary(results), ...notes].join('\n'), wrong };
}

function busyText({ share }: Machine): string {
  return `This machine is busy (a process gets ${Math.round(100 * share)} % of a processor)`;
}

/** The commands in the last second without reads: in the first one without any, if there is one. */
async function commandsOfQuiet(served: () => Promise<number>): Promise<number> {
  const end = performance.now() + PATIENCE_MS;
  for (let before = await served(); ; ) {
    await sleep(QUIET_MS);
    const now = await served();
    if (now === before || performance.now() > end) return now - before;
    before = now;
  }
}

/** Waits until all instances serve the last edition, if they do before the signal. */
async function caughtUp({ members }: Cluster, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && members.some(({ report }) => report?.edition !== mended.edition))
    await sleep(100);
}

/** Nobody reads any more: waits until what the last reads have begun is over, and told. */
async function atRest({ members }: Cluster): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  do await sleep(500);
  while (performance.now() < end && members.some((member) => member.isBusy));
}

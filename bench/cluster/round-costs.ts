import { setTimeout as sleep } from 'node:timers/promises';
import type { Backend, Connected } from '../../test/integration/support/backends.ts';
import type { RealServer } from '../../test/integration/support/servers.ts';
import { type ClusterSettings, Instance, type Work } from './instance.ts';

const PERIOD_MS = 750;
/** Long enough for all others to be told that the lease is held. */
const LOAD_MS = 100;
/** So long after the begin of a load all is said about the round, and the next one is still to come. */
const SETTLED_AFTER_MS = 0.7 * PERIOD_MS;
/** The first of them follow the cold start. */
const UNCOUNTED_ROUNDS = 2;
/** What the winner, and any other instance, may ask for in a round. */
const WINNER = 3;
const OTHER = 2;
const FRESH_READS = 1000;
/** So many share a client. */
const INSTANCES_PER_CLIENT = 10;

/** A number that was counted in each round. */
export interface Count {
  readonly mean: number;
  readonly most: number;
}

/** What rounds cost a source and an engine. */
export interface RoundCosts {
  /** With its version. */
  readonly engine: string;
  readonly instances: number;
  readonly rounds: number;
  /** Rounds with one load, and with no more commands than the winner's three and the others' two. */
  readonly asPromised: number;
  readonly loads: Count;
  /** Commands of who loaded. */
  readonly winner: Count;
  /** Commands of each instance that did not; `undefined`: there is none. */
  readonly other: Count | undefined;
  /** Commands of all, by the server's own count. */
  readonly served: Count;
  /** By the server's own count. */
  readonly commandsPer1000FreshReads: number;
}

interface Round {
  readonly work: readonly Work[];
  readonly served: number;
}

/** Lets so many instances share a value for some rounds, and counts what they ask for. */
export async function measureRoundCosts(
  server: RealServer,
  backend: Backend,
  count: number,
  rounds: number,
): Promise<RoundCosts> {
  let onLoad: () => void = () => {};
  const settings: ClusterSettings = {
    space: `costs_${count}`,
    name: 'reference',
    periodMs: PERIOD_MS,
    loadMs: LOAD_MS,
    onLoad: () => onLoad(),
  };
  const nextLoad = (): Promise<void> =>
    new Promise((resolve) => {
      onLoad = resolve;
    });
  const clients = await connected(server, backend, Math.ceil(count / INSTANCES_PER_CLIENT));
  const instances = Array.from({ length: count }, (_, number) => {
    const client = clients[number % clients.length] as Connected;
    return new Instance(client, number, settings);
  });
  try {
    await instances[0]?.warmUp(); // the others find its table
    await Promise.all(instances.map((instance) => instance.warmUp()));
    await Promise.all(instances.map((instance) => instance.begin()));
    const seen: Round[] = [];
    let load = nextLoad();
    let servedBefore = Number.NaN;
    for (let round = -UNCOUNTED_ROUNDS; round < rounds; round++) {
      await load;
      load = nextLoad();
      await sleep(SETTLED_AFTER_MS);
      const work = instances.map((instance) => instance.take());
      const servedNow = await server.commandsServed();
      if (round >= 0) seen.push({ work, served: servedNow - servedBefore });
      servedBefore = servedNow;
    }
    for (let read = 0; read < FRESH_READS; read++) await instances[read % count]?.value.get();
    const servedByReads = (await server.commandsServed()) - servedBefore;
    return {
      engine: `${server.label} ${server.version}`,
      instances: count,
      rounds,
      ...costsOf(seen),
      commandsPer1000FreshReads: (1000 * servedByReads) / FRESH_READS,
    };
  } finally {
    await closeAll(instances, clients);
  }
}

function costsOf(
  rounds: readonly Round[],
): Pick<RoundCosts, 'asPromised' | 'loads' | 'winner' | 'other' | 'served'> {
  const stepsOf = (isWinner: boolean): number[] =>
    rounds.flatMap(({ work }) =>
      work.filter(({ loads }) => loads > 0 === isWinner).map(({ steps }) => steps),
    );
  const others = stepsOf(false);
  return {
    asPromised: rounds.filter(isAsPromised).length,
    loads: counts(rounds.map(({ work }) => work.reduce((sum, { loads }) => sum + loads, 0))),
    winner: counts(stepsOf(true)),
    other: others.length === 0 ? undefined : counts(others),
    served: counts(rounds.map(({ served }) => served)),
  };
}

function isAsPromised({ work, served }: Round): boolean {
  const loads = work.reduce((sum, each) => sum + each.loads, 0);
  const isWithin = work.every((each) => each.steps <= (each.loads > 0 ? WINNER : OTHER));
  return loads === 1 && isWithin && served <= WINNER + OTHER * (work.length - 1);
}

function counts(numbers: readonly number[]): Count {
  const sum = numbers.reduce((total, number) => total + number, 0);
  return { mean: sum / numbers.length, most: Math.max(...numbers) };
}

function connected({ url }: RealServer, backend: Backend, count: number): Promise<Connected[]> {
  return Promise.all(Array.from({ length: count }, () => backend.connect(url)));
}

async function closeAll(instances: readonly Instance[], clients: readonly Connected[]): Promise<void> {
  await Promise.all(instances.map((instance) => instance.close()));
  for (const client of clients) client.destroy();
}

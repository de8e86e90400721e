import { setTimeout as sleep } from 'node:timers/promises';
import type { Backend } from '../../test/system/integration/support/backends.ts';
import type { RealServer } from '../../test/system/integration/support/servers.ts';
import type { Work } from './instance.ts';
import { Instances } from './instances.ts';

const PERIOD_MS = 1000;
/** Long enough for all others to see that the lease is held. */
const LOAD_MS = 100;
/** That long after the start of a load its round is complete, and the next one has not begun. */
const SETTLED_AFTER_MS = 0.75 * PERIOD_MS;
/** The most commands of the winner, and of any other instance, in a round. */
const WINNER = 3;
const OTHER = 2;
const FRESH_READS = 1000;

/** A count for each round. */
export interface Count {
  readonly mean: number;
  readonly most: number;
}

/** The cost of rounds for a source and a backend. */
export interface RoundCosts {
  /** With its version. */
  readonly engine: string;
  readonly instances: number;
  readonly rounds: number;
  /** Rounds with one load, and with no more commands than the winner's three and the others' two. */
  readonly asPromised: number;
  readonly loads: Count;
  /** Commands of the instance that loaded. */
  readonly winner: Count;
  /** Commands of each other instance; `undefined`: none. */
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

/** Lets instances share a value for some rounds, and counts their commands. */
export async function measureRoundCosts(
  server: RealServer,
  backend: Backend,
  count: number,
  rounds: number,
): Promise<RoundCosts> {
  const instances = await Instances.open(server, backend, count, {
    space: `costs_${count}`,
    name: 'reference',
    periodMs: PERIOD_MS,
    loadMs: LOAD_MS,
  });
  try {
    await instances.begin();
    const seen = await watch(server, instances, rounds);
    const servedBefore = await server.commandsServed();
    await instances.read(FRESH_READS);
    const servedByReads = (await server.commandsServed()) - servedBefore;
    return {
      engine: `${server.label} ${server.version}`,
      instances: count,
      rounds,
      ...costsOf(seen),
      commandsPer1000FreshReads: (1000 * servedByReads) / FRESH_READS,
    };
  } finally {
    await instances.close();
  }
}

/** Resolves between two rounds, when all values are fresh. */
async function watch(server: RealServer, instances: Instances, rounds: number): Promise<Round[]> {
  const seen: Round[] = [];
  let servedBefore: number | undefined;
  let load = instances.nextLoad();
  while (seen.length < rounds) {
    await load;
    load = instances.nextLoad();
    await sleep(SETTLED_AFTER_MS);
    const work = instances.take();
    const served = await server.commandsServed();
    if (servedBefore !== undefined) seen.push({ work, served: served - servedBefore });
    servedBefore = served;
  }
  return seen;
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

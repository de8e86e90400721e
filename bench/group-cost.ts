import { RefreshGroup, RefreshingValue } from '../dist/index.js';
import { KEEP_MS } from './candidates/candidate.ts';
import { HandClock } from './hand-clock.ts';
import { awaitedLoop, type Loop, syncLoop } from './loop.ts';
import { type Contestant, contestant, medianNs, ratioOf, takeTurns, VALUE } from './turns.ts';

/** A cost in groups of several sizes. */
export interface GroupCost {
  readonly name: string;
  /** In the order of the sizes. */
  readonly figures: readonly GroupFigure[];
}

interface GroupFigure {
  /** How many members the group has; 0: the value is in no group. */
  readonly members: number;
  /** Median nanoseconds. */
  readonly ns: number;
  /** Median of the ratios of each round to the smallest group. */
  readonly toSmallest: number;
}

/** How many members are due at a time, spread over the group. */
const DUE = 10;
const PERIOD_MS = 10_000;
const NEVER_MS = 1e12;
const ROUNDS = 150;

/** @param sizes the smallest first. */
export async function measureGroupCosts(sizes: readonly number[]): Promise<GroupCost[]> {
  return [...(await nothingDue(sizes)), ...(await someDue(sizes))];
}

async function nothingDue(sizes: readonly number[]): Promise<GroupCost[]> {
  const alone = new RefreshingValue({ name: 'alone', load: async () => VALUE, schedule: KEEP_MS });
  alone.set(VALUE);
  const groups = sizes.map((members) => ({ members, ...idleGroup(members) }));
  const readers = [{ members: 0, read: () => alone.current }, ...groups];
  return [
    await cost('fresh read', sizes, readers, ({ read }) => syncLoop(read)),
    await cost('requestStart(), nothing due', sizes, groups, ({ request }) => syncLoop(request)),
  ];
}

async function someDue(sizes: readonly number[]): Promise<GroupCost[]> {
  const groups = sizes.map((members) => ({ members, ...busyGroup(members) }));
  return [
    await cost(`fresh read that starts ${DUE}, and their loads`, sizes, groups, ({ read }) =>
      awaitedLoop(read),
    ),
    await cost(`requestStart() of ${DUE} due, and their loads`, sizes, groups, ({ request }) =>
      awaitedLoop(request),
    ),
  ];
}

async function cost<G extends { readonly members: number }>(
  name: string,
  [smallest]: readonly number[],
  groups: readonly G[],
  loop: (group: G) => Loop,
): Promise<GroupCost> {
  const all = groups.map((group) => ({ members: group.members, ...contestant(name, loop(group)) }));
  await takeTurns(all, { rounds: ROUNDS });
  const base = all.find(({ members }) => members === smallest) as Contestant;
  const figures = all.map((each) => ({
    members: each.members,
    ns: medianNs(each),
    toSmallest: ratioOf(each, base),
  }));
  return { name, figures };
}

/** On the clock of the machine, with nothing due. */
function idleGroup(members: number): { read: () => unknown; request: () => number } {
  const group = new RefreshGroup({ schedule: KEEP_MS });
  const values = Array.from({ length: members }, (_, i) =>
    group.value({ name: `v${i}`, load: async () => VALUE }),
  );
  for (const value of values) value.set(VALUE);
  const read = values[0] as RefreshingValue<number>;
  const request = (): number => {
    group.requestStart();
    return VALUE;
  };
  return { read: () => read.current, request };
}

/** On a clock that advances at each turn, so that ten members are due. The read member is never due. */
function busyGroup(members: number): { read: () => Promise<number>; request: () => Promise<number> } {
  const clock = new HandClock();
  const group = new RefreshGroup({ clock, timeout: Infinity });
  const fresh = group.value({ name: 'fresh', load: async () => VALUE, schedule: NEVER_MS });
  fresh.set(VALUE);
  let loads = 0;
  const load = async (): Promise<number> => ++loads;
  for (let i = 0; i < members; i++) {
    const isDue = i % (members / DUE) === 0;
    group.value({ name: `v${i}`, load, schedule: isDue ? PERIOD_MS : NEVER_MS + i }).set(VALUE);
  }
  async function turn(begin: () => unknown): Promise<number> {
    loads = 0;
    clock.advance(PERIOD_MS);
    begin();
    await new Promise<void>((resolve) =>
      group.requestStart({ waitUntil: (end) => end.then(() => resolve()) }),
    );
    return loads === DUE ? VALUE : 0;
  }
  return { read: () => turn(() => fresh.current), request: () => turn(() => group.requestStart()) };
}

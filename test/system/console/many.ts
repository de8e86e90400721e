import type { Fleet, RefreshGroup } from '../../../src/index.ts';

/** A group of so many members on so many instances, as far as the console sees it. Some fail, some are behind. */
export function manyMembers(members: number, instances: number): RefreshGroup {
  const names = Array.from({ length: members }, (_, at) => `member-${String(at).padStart(4, '0')}`);
  const begun = Date.now();
  let turns = 0;
  const fleet = async (): Promise<Fleet> => {
    turns += 1;
    const age = Date.now() - begun + 60_000;
    const all = Array.from({ length: instances }, (_, place) => ({
      id: `${place}`,
      host: `pod-${place}.shop.example`,
      upFor: age,
      seenAgo: 100,
      leftOut: 0,
      members: names.map((name, at) => ({
        name,
        kind: 'value' as const,
        version: (at + place) % 97 === 0 ? 1 : 2 + (at % 50 === turns % 50 ? turns : 0),
        age,
        failures: at % 211 === 0 && place === 3 ? 2 : 0,
        error: at % 211 === 0 && place === 3 ? 'connect ECONNREFUSED' : undefined,
        pinned: undefined,
        refused: undefined,
      })),
    }));
    const lines = names.map((name, at) => {
      const on = all.map(({ id, host, members: own }) => ({ id, host, ...own[at] }));
      const version = Math.max(...on.map((one) => one.version ?? 0));
      const behind = on.filter((one) => one.version !== version);
      const failing = on.filter((one) => (one.failures ?? 0) > 0);
      const holding = instances - behind.length;
      return {
        name,
        kind: 'value',
        version,
        of: instances,
        holding,
        behind,
        oldest: age,
        failing,
        pinned: [],
        refused: [],
        text: '',
      };
    });
    return { instances: all, idle: [], members: lines } as unknown as Fleet;
  };
  const status = (name: string): object => {
    const age = Date.now() - begun + 60_000;
    return {
      name,
      state: 'fresh',
      age,
      failures: 0,
      nextExecuteTime: begun + 3_600_000,
      paused: false,
      closed: false,
      maxStaleness: 7_200_000,
      refusesReads: false,
    };
  };
  const member = { inspect: () => status('') };
  const group = {
    members: () =>
      names.map((name) => ({
        kind: 'value',
        name,
        member,
        lock: undefined,
        store: undefined,
        inspect: () => status(name),
        executions: () => [],
        health: () => [],
      })),
    inspect: () => ({ name: 'many', closed: false, members: [] }),
    on: () => () => {},
    handle: { defaults: {} },
    fleet,
  };
  return group as unknown as RefreshGroup;
}

import { guardIsNotAsked, refusedIsHeldAsAnyFailure } from './guards.ts';
import type { SimulationFault } from './simulation.ts';

/** Faults of marks on keys, of the fleet, and of guards on keys, which the worlds of keys must find. */
const faults: readonly Omit<SimulationFault, 'world'>[] = [
  {
    name: 'marks on keys are not applied',
    rules: [24],
    seeds: [2],
    in: 'src/cache/many-keys.ts',
    replace: 'MarkedKeys.apply',
    by: '() => {}',
  },
  {
    name: 'a key that was set everywhere waits for its cool-down',
    rules: [24],
    seeds: [13],
    in: 'src/cluster/member-coordinator.ts',
    replace: 'MemberCoordinator.takeOver',
    by: 'async () => {}',
  },
  {
    name: 'a mark that a load has read is taken for applied',
    rules: [24],
    seeds: [9],
    in: 'src/cluster/cluster-state.ts',
    replace: 'ClusterState.isBehind',
    by: "(entry, by, version, at) => original(entry, 'changed', version, at)",
  },
  {
    name: 'the invalidation log is not asked about what it says of a snapshot',
    rules: [24],
    seeds: [4],
    in: 'src/cluster/key-marks.ts',
    replace: 'KeyMarks.outOfDateUpTo',
    by: '() => 0',
  },
  {
    name: 'an instance that starts does not read the invalidation log first',
    rules: [24],
    seeds: [34],
    in: 'src/cluster/board.ts',
    replace: 'Board.known',
    by: 'async () => {}',
  },
  {
    name: 'an invalidation log takes the place of the marks of others',
    rules: [24],
    seeds: [2],
    in: 'src/cluster/invalidation-log.ts',
    replace: 'withMarks',
    by: '(log, marks, version) => original(EMPTY, marks, version)',
  },
  {
    name: 'a cleared cache keeps its values on other instances',
    rules: [24],
    seeds: [2],
    in: 'src/cache/many-keys.ts',
    replace: 'ManyKeys.forgetIf',
    by: '() => {}',
  },
  {
    name: 'a report claims a later mark',
    rules: ['everywhere'],
    seeds: [1],
    in: 'src/cluster/key-marks.ts',
    replace: 'KeyMarks.reported',
    by: `() => {
      const reported = original();
      return { ...reported, version: reported.version && reported.version + 1 };
    }`,
  },
  {
    name: 'a report lasts for an hour',
    rules: ['everywhere'],
    seeds: [2],
    in: 'src/cluster/instance-reporter.ts',
    replace: 'InstanceReporter.next',
    by: `(...given) => {
      const next = original(...given);
      const text = next?.report.text.replace(/"lasts":[0-9]+/, '"lasts":3600000') ?? '';
      return next && { ...next, report: { ...next.report, text, keepFor: 3_600_000 } };
    }`,
  },
  {
    name: 'a report is left when something has changed, and not renewed',
    rules: ['everywhere'],
    seeds: [1],
    in: 'src/cluster/instance-reporter.ts',
    replace: 'InstanceReporter.next',
    by: `(members, now, withinMs, isForced) => {
      if (this.#last !== undefined) this.#last = { ...this.#last, at: now };
      return original(members, now, withinMs, isForced);
    }`,
  },
  { ...guardIsNotAsked, name: 'the guard of a key is not asked', seeds: [4] },
  {
    ...refusedIsHeldAsAnyFailure,
    name: 'a refused round of a key is held as briefly as any other that failed',
    seeds: [4],
  },
];

export const ofKeys: readonly SimulationFault[] = faults.map((fault) => ({
  ...fault,
  world: 'keys' as const,
}));

import { guardIsNotAsked, refusedIsHeldAsAnyFailure } from './guards.ts';
import type { SimulationFault } from './simulation.ts';

/** Faults of guards, refused values, pins, marks and reports, which the data worlds must find. */
const faults: readonly Omit<SimulationFault, 'world'>[] = [
  { ...guardIsNotAsked, name: 'a guard is not asked', seeds: [1] },
  {
    name: 'a reason of a guard is taken for a yes',
    rules: [23],
    seeds: [4],
    in: 'src/guard/guarded-load.ts',
    replace: 'guardedLoad',
    by: `(load, options) => {
      const { accept } = options;
      const lax = accept && (async (...given) => (await accept(...given)) !== false);
      return original(load, { ...options, accept: lax });
    }`,
  },
  {
    name: 'what the schema refuses is taken',
    rules: [23],
    seeds: [2],
    in: 'src/guard/guarded-load.ts',
    replace: 'validated',
    by: '(value, options) => (options.schema === undefined ? value : { ...value, isChecked: true })',
  },
  {
    name: 'a restart forgets what is normal',
    rules: [23],
    seeds: [17],
    in: 'src/cluster/round.ts',
    replace: 'Round.previous',
    by: 'async () => undefined',
  },
  {
    ...refusedIsHeldAsAnyFailure,
    name: 'a refused round is held as briefly as any other that failed',
    seeds: [2],
  },
  {
    name: 'a forced load lets pass whatever the source has',
    rules: [23, 'refused'],
    seeds: [7],
    in: 'src/engine/member-engine.ts',
    replace: 'MemberEngine.#forced',
    by: `(entry) => {
      const forced = { isPassed: true };
      entry.forced = forced;
      const passed = () => void (entry.forced = undefined);
      const next = this.next(entry, undefined, 'forced');
      next.then(passed, passed);
      return next;
    }`,
  },
  {
    name: 'a lease is given while a version is pinned',
    rules: [25],
    seeds: [7],
    in: 'src/records/edited.ts',
    replace: 'claimed',
    by: '(record, edit, now, beside, mark) => original(record, edit, now, beside && { ...beside, pinnedUntil: undefined }, mark)',
  },
  {
    name: 'a pinned version has no hold',
    rules: [25],
    seeds: [2],
    in: 'src/cluster/manual-round.ts',
    replace: 'recordOf',
    by: `(member, entry, as) => {
      const record = original(member, entry, as);
      return record.pin === undefined ? record : { ...record, dueAt: record.pin.sinceAt };
    }`,
  },
  {
    name: 'a refresh is not refused while a version is pinned',
    rules: [25],
    seeds: [2],
    in: 'src/cluster/version-control.ts',
    replace: 'EntryVersions.#throwIfPinned',
    by: '() => {}',
  },
  {
    name: 'unpin publishes nothing',
    rules: [25, 'rest'],
    seeds: [2],
    in: 'src/cluster/version-control.ts',
    replace: 'EntryVersions.unpin',
    by: `async () => {
      const [present] = await this.history();
      return present?.isPinned === true;
    }`,
  },
  {
    name: 'a pinned version counts as old as its load',
    rules: [25, 'rest'],
    seeds: [22],
    in: 'src/cluster/remote-snapshots.ts',
    replace: 'RemoteSnapshots.#isPinned',
    by: '() => false',
  },
  {
    name: 'a pin is never checked again',
    rules: ['rest', 25],
    seeds: [3],
    in: 'src/cluster/remote-result.ts',
    replace: 'StillPinned.applyTo',
    by: '(entry, timing) => { if (entry.isLoaded) timing.pinned(entry, 1e9); }',
  },
  {
    name: 'a check finds nothing newer',
    rules: [24],
    seeds: [11],
    in: 'src/cluster/version-poll.ts',
    replace: 'VersionPoll.#ask',
    by: '(...given) => original(...given).then((answer) => answer?.map(() => 0))',
  },
  {
    name: 'a check comes half as often as it must',
    rules: [24],
    seeds: [113],
    in: 'src/cluster/version-poll.ts',
    replace: 'VersionPoll.#pauseMs',
    by: '(random) => 2 * original(random)',
  },
  {
    name: 'the commands of rounds carry no report',
    rules: ['everywhere'],
    seeds: [3],
    in: 'src/cluster/store-reports.ts',
    replace: 'StoreReports.#isSoon',
    by: '() => true',
  },
  {
    name: 'the commands of rounds carry a report each',
    rules: ['everywhere'],
    seeds: [1],
    in: 'src/cluster/store-reports.ts',
    replace: 'StoreReports.#isSoon',
    by: '() => false',
  },
  {
    name: 'a mark is taken for no snapshot',
    rules: [24],
    seeds: [26],
    in: 'src/cluster/cluster-state.ts',
    replace: 'ClusterState.unappliedMark',
    by: '() => undefined',
  },
  {
    name: 'what a check has found is not adopted',
    rules: [24],
    seeds: [11],
    in: 'src/cluster/polled-value.ts',
    replace: 'PolledValue.adoptNewer',
    by: 'async () => {}',
  },
  {
    name: 'a mark takes the place of a pinned version',
    rules: [25],
    seeds: [4],
    in: 'src/records/edited.ts',
    replace: 'put',
    by: '(record, edit, now, beside) => original(record, { ...edit, sparesPinned: false }, now, beside)',
  },
  {
    name: 'a report claims the version of the store',
    rules: ['everywhere'],
    seeds: [2],
    in: 'src/cluster/polled-value.ts',
    replace: 'PolledValue.reported',
    by: `(written) => {
      const reported = original(written);
      return { ...reported, version: reported.version && reported.version + 1 };
    }`,
  },
  {
    name: 'a report claims the version that is being read',
    rules: ['everywhere'],
    seeds: [3],
    in: 'src/cluster/cluster-state.ts',
    replace: 'ClusterState.reported',
    by: '(written) => this.reading || original(written)',
  },
  {
    name: 'a signal is ignored',
    rules: ['signals'],
    seeds: [9],
    in: 'src/cluster/version-poll.ts',
    replace: 'VersionPoll.checkWithin',
    by: '() => {}',
  },
  {
    name: 'a signal puts off the check that is due anyway',
    rules: [24],
    seeds: [39],
    in: 'src/cluster/version-poll.ts',
    replace: 'VersionPoll.checkWithin',
    by: `(ms) => {
      original(ms);
      const first = this.#first;
      if (first === undefined || ms < LEAST_APART_MS) return;
      this.#dueAt = this.#signalledAt = first.options.clock.monotonic() + 60_000;
      this.#plan();
    }`,
  },
  {
    name: 'a storm of signals is a storm of checks',
    rules: ['signals'],
    seeds: [4],
    in: 'src/cluster/version-poll.ts',
    replace: 'VersionPoll.checkWithin',
    by: `() => {
      this.#signalledAt = this.#beganAt;
      this.#plan();
      const first = this.#first;
      if (first !== undefined) this.read(first.options.clock.monotonic());
    }`,
  },
  {
    name: 'a message of others is taken for a signal',
    rules: ['signals'],
    seeds: [4],
    in: 'src/signals/message.ts',
    replace: 'decodeSignal',
    by: `(text) => {
      const signal = original(text);
      if (signal === undefined) throw new Error('it is no signal');
      return signal;
    }`,
  },
];

export const ofData: readonly SimulationFault[] = faults.map((fault) => ({
  ...fault,
  world: 'data' as const,
}));

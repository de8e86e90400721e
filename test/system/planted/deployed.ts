import type { SimulationFault } from './simulation.ts';

/** Faults that the worlds of deployments must find. */
const faults: readonly Omit<SimulationFault, 'world'>[] = [
  {
    name: 'an initial value is ignored',
    rules: [2],
    seeds: [1],
    in: 'src/value/initial.ts',
    replace: 'prepareInitial',
    by: '() => {}',
  },
  {
    name: 'what was derived first stays',
    rules: ['results'],
    seeds: [1],
    in: 'src/derive/derived.ts',
    replace: 'Derived.#follow',
    by: `(read) => {
      const { value } = this.#held;
      return this.#origin === undefined ? original(read) : { value, promise: Promise.resolve(value) };
    }`,
  },
  {
    name: 'a kept value is emitted as a replacement',
    rules: ['changed'],
    seeds: [1],
    in: 'src/engine/settler.ts',
    replace: 'Settler.#accept',
    by: `(execution, result, remote) => {
      const { entry } = execution;
      const isKept = result.origin === 'kept' && remote === undefined;
      if (isKept) this.#engine.changes.note(entry, entry.value, 'loaded', undefined);
      return original(execution, result, remote);
    }`,
  },
  {
    name: 'the event of an adopted value has a version that is too low',
    rules: [13],
    seeds: [1],
    in: 'src/engine/changes.ts',
    replace: 'Changes.note',
    by: `(entry, value, cause, version) =>
      original(entry, value, cause, cause === 'adopted' ? 1 : version)`,
  },
  {
    name: 'an instance that closes does not settle its readers',
    rules: [4],
    seeds: [1],
    in: 'src/engine/waiters.ts',
    replace: 'Waiters.reject',
    by: "(error, settled) => { if (error?.code !== 'CLOSED') original(error, settled); }",
  },
  {
    name: 'what a check was faster to put into place is put there again',
    rules: [13],
    seeds: [3],
    in: 'src/cluster/remote-result.ts',
    replace: 'Adoption.isInPlace',
    by: '() => false',
  },
  {
    name: 'a snapshot with fields that are not known is refused',
    rules: ['upgrade'],
    seeds: [1],
    in: 'src/cluster/snapshot.ts',
    replace: 'readHeader',
    by: `(line) => {
      const header = original(line);
      const known = 'tickless publisher format kind name isBase64 isAbsent age dueIn isDueSaid took maxStaleness';
      const all = [...known.split(' '), 'tags', 'isPinned', 'mark', 'length', 'bodySum', 'sum'];
      for (const field of Object.keys(header)) {
        if (!all.includes(field)) throw new UndecodableError('its envelope is damaged');
      }
      return header;
    }`,
  },
  {
    name: 'a snapshot without the fields that came later is refused',
    rules: ['upgrade'],
    seeds: [1],
    in: 'src/cluster/snapshot.ts',
    replace: 'checkMaker',
    by: '(header, reader) => original({ kind: undefined, name: "", ...header }, reader)',
  },
  {
    name: 'a report with fields that are not known is skipped',
    rules: ['upgrade'],
    seeds: [6],
    in: 'src/cluster/fleet-report.ts',
    replace: 'memberIn',
    by: "(member, seenAgo, of) => ('further' in member ? [] : original(member, seenAgo, of))",
  },
  {
    name: 'a lock that is slow counts as dead',
    rules: [29],
    seeds: [2],
    in: 'src/cluster/backend-patience.ts',
    replace: 'stepLimits',
    by: `(silenceMs, time) => {
      const ms = original(silenceMs, time).silenceMs / 2;
      return { silenceMs: ms, mostMs: ms };
    }`,
  },
  {
    name: 'a cool-down lasts for longer than the longest',
    rules: [22],
    seeds: [18],
    in: 'src/engine/cool-down.ts',
    replace: 'coolDownMs',
    by: '() => 20_000',
  },
  {
    name: 'what others have loaded counts as older',
    rules: ['rest'],
    seeds: [1],
    in: 'src/cluster/remote-snapshots.ts',
    replace: 'RemoteSnapshots.#isOlder',
    by: '() => this.#entry.isLoaded',
  },
];

export const ofDeployed: readonly SimulationFault[] = faults.map((fault) => ({
  ...fault,
  world: 'deployed' as const,
}));

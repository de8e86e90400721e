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
    in: 'src/engine/outcomes.ts',
    replace: 'Outcomes.#accept',
    by: `(execution, result, remote) => {
      const { entry } = execution;
      const isKept = result.outcome === 'kept' && remote === undefined;
      if (isKept) this.#changes.note(entry, entry.value, 'loaded', undefined);
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
    seeds: [6],
    in: 'src/engine/waiters.ts',
    replace: 'Waiters.reject',
    by: "(error, settled) => { if (error?.name !== 'ClosedError') original(error, settled); }",
  },
];

export const ofDeployed: readonly SimulationFault[] = faults.map((fault) => ({
  ...fault,
  world: 'deployed' as const,
}));

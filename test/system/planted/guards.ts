import type { SimulationFault } from './simulation.ts';

/** A fault that the worlds of values and those of keys must find, each with a name and seeds of its own. */
type SharedFault = Pick<SimulationFault, 'rules' | 'in' | 'replace' | 'by'>;

export const guardIsNotAsked: SharedFault = {
  rules: [23],
  in: 'src/guard/guarded-load.ts',
  replace: 'guardedLoad',
  by: '(load, options) => original(load, { ...options, accept: undefined })',
};

export const refusedIsHeldAsAnyFailure: SharedFault = {
  rules: [5],
  in: 'src/cluster/round.ts',
  replace: 'Round.#failure',
  by: `(error) => {
      const { coolDown, random } = this.member.options;
      const outcome = original(error);
      return () => ({ ...outcome(), holdFor: coolDownMs(coolDown, 1, random()) });
    }`,
};

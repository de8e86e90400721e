import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The name of the fault that the tests are to see. */
    planted?: string | undefined;
    /** Simulation: the seeds 1 to that, in the place of those that are recorded. */
    seeds?: number | undefined;
  }
}

globalThis.planted = inject('planted');

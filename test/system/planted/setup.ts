import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The name of the fault that the tests are to see. */
    planted?: string | undefined;
    /** The worlds that are run. */
    seeds: readonly number[];
  }
}

globalThis.planted = inject('planted');
// A world may take longer: it is one test.
if (globalThis.planted?.startsWith('rule ')) await import('../../support/hang-watch/setup.ts');

import { inject, vi } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The name of the fault that the tests are to see. */
    planted?: string | undefined;
    /** The worlds that are run. */
    seeds: readonly number[];
  }
}

globalThis.planted = inject('planted');
// Without a fault it is far beyond what a test takes on a busy machine; with one, a promise may never settle.
vi.setConfig({ testTimeout: globalThis.planted === undefined ? 60_000 : 15_000 });
// A world may take longer: it is one test.
if (globalThis.planted?.startsWith('rule ')) await import('../../support/hang-watch/setup.ts');

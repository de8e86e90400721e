import type { Engine } from '../faults/clients.ts';
import { Children } from './children.ts';

export interface CrowdSettings {
  readonly engine: Engine;
  readonly url: string;
  /** Of the cache that all processes share. */
  readonly keys: number;
}

/** What came of one read of all keys. */
export interface CrowdRead {
  readonly found: number;
  /** The first errors. */
  readonly failed: readonly string[];
  /** The keys that this process has loaded. */
  readonly loads: readonly number[];
  readonly ms: number;
  /** The log. */
  readonly lines: readonly string[];
}

export type FromCrowd = { readonly kind: 'ready' } | ({ readonly kind: 'read' } & CrowdRead);

const PROGRAM = new URL('../fixtures/crowd.ts', import.meta.url);
/** On a machine that has more processes than processors. */
const WITHIN_MS = 150_000;

/** Processes that read all keys of a cache at the same time, which none of them has yet. @returns what each has met. */
export async function readInCrowd(processes: number, settings: CrowdSettings): Promise<CrowdRead[]> {
  let ready = 0;
  const reads: CrowdRead[] = [];
  const children = new Children<string, FromCrowd>(PROGRAM, (told) => {
    if (told.kind === 'read') reads.push(told);
    else ready += 1;
  });
  try {
    for (let by = 0; by < processes; by++) children.start(by, settings);
    await children.until(
      () => ready === processes,
      () => `${processes} are ready`,
      WITHIN_MS,
    );
    for (const by of children.numbers) children.send(by, 'read');
    await children.until(
      () => reads.length === processes,
      () => `${processes} have read`,
      WITHIN_MS,
    );
    return reads;
  } finally {
    await children.close();
  }
}

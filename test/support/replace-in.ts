import { accessOf } from '../../src/cluster/backend-access.ts';
import type { StoreSteps } from '../../src/cluster/backend-steps.ts';
import type { SnapshotStore } from '../../src/cluster/store-contract.ts';
import type { StoreLike } from '../../src/engine/coordinator.ts';

/** The step `replace` of a store. One without it reads and writes instead: nobody else may write to that meanwhile. */
export function replaceIn(store: Pick<SnapshotStore, 'read' | 'write'>): StoreSteps['replace'] {
  const steps = accessOf<StoreSteps>(store as StoreLike)?.steps;
  if (steps !== undefined) return (...asked) => steps.replace(...asked);
  return async (name, text, expected) => {
    const present = await store.read(name);
    const isAgain = present?.payload === text;
    if (!isAgain && (present?.version ?? 0) !== expected) return { kind: 'refused', present };
    return { kind: 'written', version: isAgain ? present.version : (await store.write(name, text)).version };
  };
}

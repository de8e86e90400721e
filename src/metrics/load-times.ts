import type { RefreshGroup } from '../group/refresh-group.ts';

/** The name and the meaning of the histogram of load times. */
export const LOAD_TIMES: { readonly name: string; readonly help: string } = {
  name: 'tickless_load_duration_seconds',
  help: 'How long loads took, with all their tries.',
};

/** The bounds of its buckets in seconds: from a memory read to a slow export. */
export const BOUNDS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The labels of a load time. */
export type LoadLabels = { readonly name: string; readonly outcome: string };

/** Calls `observe` with the time of each load of the groups, as it ends. @returns the function that ends it. */
export function observeLoads(
  groups: readonly RefreshGroup[],
  observe: (seconds: number, labels: LoadLabels) => void,
): () => void {
  const stops = groups.map((group) =>
    group.on('load-ended', ({ name, took, attempts, outcome }) => {
      if (attempts > 0 && outcome !== 'late') observe(took / 1000, { name, outcome });
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
}

import type { Told } from './messages.ts';

type Heard = Told & { readonly by: number };
type StepTold = Extract<Heard, { kind: 'step' }>;

/**
 * The versions that came into the store of their name, or were found in it, after a newer one was there: one line each.
 *
 * When the store took a write is known to no more than the time between question and answer, and an instance that
 * stood still tells late. So a write counts as stale only where its question begins after the answer to the newer one
 * was told: then no machine, however busy, can have swapped them. What hides behind an overlap, or behind an answer that
 * was lost, is seen by who reads an older version after that.
 */
export function stalePublishesOf(heard: readonly Heard[]): string[] {
  const steps = heard.filter((told): told is StepTold => told.kind === 'step' && told.token !== undefined);
  const writes = steps.filter(({ step, answer }) => step === 'write' && answer === 'written');
  const finds = steps.filter(({ step, answer }) => step === 'read' && answer === 'found');
  const stale = new Map<string, string>();
  for (const { name, step, token = 0, begunAt, by } of [...writes, ...finds]) {
    const newer = writes.find(
      (write) => write.name === name && (write.token ?? 0) > token && write.at < begunAt,
    );
    const version = `${name} ${token}`;
    if (newer === undefined || stale.has(version)) continue;
    const late = `${(begunAt - newer.at).toFixed(1)} ms after ${newer.token}`;
    stale.set(version, `instance ${by}: ${step} ${token}, ${late} was there`);
  }
  return [...stale.values()];
}

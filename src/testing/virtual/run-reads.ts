import { OptionChecks } from '../../option-checks.ts';
import type { DurationLike } from '../../time/duration.ts';
import { showDuration } from '../../time/show-duration.ts';
import type { FakeClock } from '../fake-clock.ts';
import type { VirtualInstance } from './virtual-instance.ts';

/** The options of {@link VirtualCluster.run}. */
export interface RunOptions<S> {
  /** The time between two reads of an instance. Over 0, finite. @default 1 second */
  readonly every?: DurationLike | undefined;
  /** One read of an instance, with your assertions. A result is ignored, a promise is awaited behind the run. */
  readonly read: (service: S, instance: VirtualInstance<S>) => unknown;
}

/** The result of {@link VirtualCluster.run}. */
export interface RunResult {
  /** How many reads were made. */
  readonly reads: number;
  /** How many of them wait for an answer at the end: those of killed instances, and of a source that is silent. */
  readonly unanswered: number;
}

/** Reads all running instances in steps. */
export async function runReads<S>(
  clock: FakeClock,
  instances: readonly VirtualInstance<S>[],
  random: () => number,
  duration: DurationLike,
  { every = 1000, read, ...unknown }: RunOptions<S>,
): Promise<RunResult> {
  const checks = new OptionChecks('run');
  checks.names('', unknown, ['every', 'read']);
  const durationMs = checks.finiteDurationFromZero('duration', duration);
  const everyMs = checks.finiteDuration('every', every);
  checks.function('read', read);
  checks.done();
  let reads = 0;
  let answered = 0;
  let failure: Error | undefined;

  async function readOnce(instance: VirtualInstance<S>): Promise<void> {
    reads += 1;
    try {
      await read(instance.service, instance);
    } catch (error) {
      failure ??= failureOf(instance.name, clock.monotonic(), error);
    }
    answered += 1;
  }

  for (let left = durationMs; ; left -= everyMs) {
    for (const instance of shuffled(instances, random)) if (instance.isRunning) void readOnce(instance);
    await clock.advance(Math.min(left, everyMs));
    if (failure !== undefined) throw failure;
    if (left < everyMs) return { reads, unanswered: reads - answered };
  }
}

function failureOf(name: string, atMs: number, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(`read of ${name} failed ${showDuration(atMs)} after the start: ${reason}`, { cause });
}

function shuffled<I>(items: readonly I[], random: () => number): I[] {
  const ranked = items.map((item) => ({ item, rank: random() }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
}

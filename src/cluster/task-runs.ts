import { parseJson } from '../bounded-json.ts';
import type { ExecutorRun } from '../data/executor-run.ts';
import { BACKEND_RULE, type Backend, isBackend } from '../engine/backend.ts';
import { isText, OptionChecks } from '../option-checks.ts';
import type { SnapshotStore, Store } from './store-contract.ts';

/** One run of a locked task that has ended. */
export interface TaskRun extends ExecutorRun {
  readonly token: number;
  readonly host: string;
}

/** How many runs of a name are kept. */
const MOST_RUNS = 20;

/** In characters. */
const LONGEST_ERROR = 500;

const FORMAT = 'tickless-runs/1\n';

/** The name of the runs at the store, beside the snapshots. */
function runsName(name: string): string {
  return `runs/${name}`;
}

/**
 * The last runs of a `lockedTask` that has a `backend`, newest first: at most 20. Empty: there are none, or the backend has
 * forgotten them after its retention.
 *
 * @param backend the one that the task has.
 * @param name the name of its lock. Rejects with `BACKEND_DOWN` when the backend does not answer.
 */
export async function taskRuns(backend: Backend, name: string): Promise<readonly TaskRun[]> {
  const checks = new OptionChecks('taskRuns');
  checks.that(isBackend(backend), 'backend', BACKEND_RULE, backend);
  checks.name('name', name);
  checks.done();
  return keptRuns(backend.store as Store, name);
}

/** The same, at a store. @param most the number of them that the task keeps. */
export async function keptRuns(
  store: Pick<SnapshotStore, 'read'>,
  name: string,
  most: number = MOST_RUNS,
): Promise<readonly TaskRun[]> {
  const { payload = '' } = (await store.read(runsName(name))) ?? {};
  if (!payload.startsWith(FORMAT)) return [];
  try {
    const runs: unknown = parseJson(payload.slice(FORMAT.length));
    return Array.isArray(runs) ? runs.filter(isRun).slice(0, most) : [];
  } catch {
    return []; // edited by hand
  }
}

/**
 * Adds a run, while its lease is held: its token keeps one that has lost its lease from replacing later runs. Rejects when
 * the store does not answer.
 */
export async function addRun(
  store: Pick<SnapshotStore, 'read' | 'write'>,
  name: string,
  run: TaskRun,
  most: number = MOST_RUNS,
): Promise<void> {
  const error = run.error === undefined ? {} : { error: run.error.slice(0, LONGEST_ERROR) };
  const runs = [{ ...run, ...error }, ...(await keptRuns(store, name, most))].slice(0, most);
  await store.write(runsName(name), FORMAT + JSON.stringify(runs), run.token);
}

/** It comes from outside. */
function isRun(given: unknown): given is TaskRun {
  const {
    at,
    took,
    result,
    error = '',
    token,
    host,
    instance = '-',
  } = (given ?? {}) as Partial<Record<keyof TaskRun, unknown>>;
  const areNumbers = [at, took, token].every(
    (number) => typeof number === 'number' && Number.isFinite(number),
  );
  return (
    areNumbers &&
    (result === 'done' || result === 'failed') &&
    typeof error === 'string' &&
    isText(host) &&
    isText(instance)
  );
}

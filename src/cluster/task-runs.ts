import { parseJson } from '../bounded-json.ts';
import type { ExecutionOutcome } from '../data/execution-record.ts';
import { OUTCOMES } from '../data/execution-record.ts';
import { type ExecutorRun, MOST_RUNS } from '../data/executor-run.ts';
import { isText } from '../option-checks.ts';
import type { Store } from './store-contract.ts';

/** One run of a task with a lock, as it is kept at the backend. */
export interface TaskRun extends ExecutorRun {
  readonly token: number;
  readonly host: string;
}

/** In characters. */
const LONGEST_ERROR = 500;

const FORMAT = 'tickless-runs/2\n';

/** The name of the runs at the store, beside the snapshots. */
function runsName(name: string): string {
  return `runs/${name}`;
}

/** Those of a name at a store, newest first; empty: there are none. Rejects when the store does not answer. */
export async function keptRuns(store: Pick<Store, 'read'>, name: string): Promise<readonly TaskRun[]> {
  const { payload = '' } = (await store.read(runsName(name))) ?? {};
  if (!payload.startsWith(FORMAT)) return [];
  try {
    const runs: unknown = parseJson(payload.slice(FORMAT.length));
    return Array.isArray(runs) ? runs.filter(isRun).slice(0, MOST_RUNS) : [];
  } catch {
    return []; // edited by hand
  }
}

/**
 * Adds a run, while its lease is held: its token keeps one that has lost its lease from replacing later runs. Rejects when
 * the store does not answer.
 */
export async function addRun(
  store: Pick<Store, 'read' | 'write'>,
  name: string,
  run: TaskRun,
): Promise<void> {
  const error = run.error === undefined ? {} : { error: run.error.slice(0, LONGEST_ERROR) };
  const runs = [{ ...run, ...error }, ...(await keptRuns(store, name))].slice(0, MOST_RUNS);
  await store.write(runsName(name), FORMAT + JSON.stringify(runs), run.token);
}

/** It comes from outside. */
function isRun(given: unknown): given is TaskRun {
  const {
    startedAt,
    took,
    outcome,
    error = '',
    token,
    host,
    instance = '-',
  } = (given ?? {}) as Partial<Record<keyof TaskRun, unknown>>;
  const areNumbers = [startedAt, took, token].every(
    (number) => typeof number === 'number' && Number.isFinite(number),
  );
  return (
    areNumbers &&
    OUTCOMES.includes(outcome as ExecutionOutcome) &&
    typeof error === 'string' &&
    isText(host) &&
    isText(instance)
  );
}

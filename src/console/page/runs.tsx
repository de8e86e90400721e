import type { ComponentChild } from 'preact';
import type { ExecutorRun } from '../../index.ts';
import { duration, text, time } from './format.ts';
import { type Column, Table } from './table.tsx';

const COLUMNS: readonly Column<ExecutorRun>[] = [
  { head: 'Began', cell: ({ at }) => time(at) },
  { head: 'Took', cell: ({ took }) => duration(took) },
  {
    head: 'Result',
    cell: ({ result, error }) => (
      <>
        {result}
        {error !== undefined && (
          <>
            : <bdi>{text(error, 300)}</bdi>
          </>
        )}
      </>
    ),
  },
  {
    head: 'By',
    title: ({ token, instance = '' }) => (token === undefined ? '' : `token ${token} ${text(instance, 80)}`),
    cell: ({ host = 'this instance' }) => <bdi>{text(host, 80)}</bdi>,
  },
];

/** The runs of a task, newest first. */
export function RunsTable({ runs }: { runs: readonly ExecutorRun[] }): ComponentChild {
  return (
    <Table
      label="Runs"
      columns={COLUMNS}
      rows={runs}
      keyOf={({ token, at }) => token ?? at}
      levelOf={({ result }) => result === 'failed' && 'warn'}
    />
  );
}

/** The runs of an executor. */
export function RunsCard({
  runs = [],
  error,
}: {
  runs: readonly ExecutorRun[] | undefined;
  error: string | undefined;
}): ComponentChild {
  return (
    <section class="wide">
      <h2>Last runs</h2>
      {error !== undefined && <p class="alert">{text(error)}</p>}
      {error === undefined && runs.length === 0 && <p class="quiet">None.</p>}
      {runs.length > 0 && <RunsTable runs={runs} />}
    </section>
  );
}

import type { ComponentChild } from 'preact';
import type { ExecutorRun } from '../../index.ts';
import { duration, text, time } from './format.ts';
import { type Column, Table } from './table.tsx';

const COLUMNS: readonly Column<ExecutorRun>[] = [
  { head: 'Began', cell: ({ startedAt }) => time(startedAt) },
  { head: 'Took', cell: ({ took }) => duration(took) },
  {
    head: 'Result',
    cell: ({ outcome, error }) => (
      <>
        {outcome === 'loaded' ? 'done' : outcome}
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
      keyOf={({ token, startedAt }) => token ?? startedAt}
      levelOf={({ error }) => error !== undefined && 'warn'}
    />
  );
}

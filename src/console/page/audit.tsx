import type { ComponentChild } from 'preact';
import type { ListedRecord } from '../audit.ts';
import { text, time } from './format.ts';
import { usePolled } from './polled.ts';
import { type Column, Table } from './table.tsx';

const COLUMNS: readonly Column<ListedRecord>[] = [
  { head: 'At', cell: ({ at }) => time(at) },
  {
    head: 'By',
    cell: ({ by, host }) => (
      <>
        <bdi>{text(by, 80)}</bdi> <span class="quiet">on {text(host, 60)}</span>
      </>
    ),
  },
  { head: 'Action', cell: ({ action, here }) => `${action}${here ? ' (one instance)' : ''}` },
  {
    head: 'On',
    cell: ({ name, key, lock, note }) => (
      <>
        <bdi>{text(key === undefined ? name : `${name}[${key}]`, 200)}</bdi>
        {lock !== undefined && <span class="quiet"> at lock {lock}</span>}
        {note && <div class="quiet">{text(note)}</div>}
      </>
    ),
  },
  {
    head: 'Result',
    cell: ({ result, message, unwritten }) => (
      <>
        <b>{result}</b> <bdi>{text(message)}</bdi>
        {unwritten && <div class="quiet">on this instance only, until it can be written</div>}
      </>
    ),
  },
];

/** What operators have done. */
export function Audit(): ComponentChild {
  const { data, error } = usePolled<{ records: readonly ListedRecord[]; problem?: string }>('audit');
  const found = data.value;
  return (
    <>
      <h1 tabIndex={-1}>Audit</h1>
      {error.value && <p class="alert">{text(error.value)}</p>}
      {found?.problem && <p class="alert">Only those of this instance: {text(found.problem)}</p>}
      {found && found.records.length === 0 && <p class="quiet">No operator has done anything yet.</p>}
      {found && found.records.length > 0 && (
        <Table
          label="Audit records"
          columns={COLUMNS}
          rows={found.records}
          keyOf={({ at }, index) => `${at} ${index}`}
          levelOf={({ result }) => result !== 'done' && 'warn'}
        />
      )}
    </>
  );
}

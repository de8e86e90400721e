import type { ComponentChild } from 'preact';
import type { ShownDifference } from '../shown-value.ts';
import { countsText } from '../words.ts';
import { session } from './api.ts';
import { text } from './format.ts';
import { type Column, Table } from './table.tsx';

const COLUMNS: readonly Column<ShownDifference['parts'][number]>[] = [
  { head: 'Part', cell: ({ id }) => <bdi>{text(id, 100)}</bdi> },
  { head: 'Before', cell: ({ before }) => <code>{text(before ?? '–', 500)}</code> },
  { head: 'After', cell: ({ after }) => <code>{text(after ?? '–', 500)}</code> },
];

/** The changes from one value to another: how many, and samples where values are shown. */
export function Difference({ of }: { of: ShownDifference }): ComponentChild {
  const { parts } = of;
  return (
    <>
      <p>{countsText(of)}</p>
      {parts.length === 0 && !session.value?.showsValues && (
        <p class="quiet">Values are not shown: the option showValue of the console is not set.</p>
      )}
      {parts.length > 0 && <Table label="Changes" columns={COLUMNS} rows={parts} keyOf={({ id }) => id} />}
    </>
  );
}

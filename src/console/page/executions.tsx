import type { ComponentChild } from 'preact';
import type { Detail } from '../detail.ts';
import type { SayError } from '../said.ts';
import { executionText, hasFailed } from '../words.ts';
import { duration, second, text, time } from './format.ts';
import { type Column, Table } from './table.tsx';
import { Timeline } from './timeline.tsx';

type Row = Detail['executions'][number];

const BEGAN: Column<Row> = {
  head: 'Began',
  cell: ({ startedAt }) => second(startedAt),
  title: ({ startedAt }) => time(startedAt),
};
const KEY: Column<Row> = { head: 'Key', cell: ({ key }) => <bdi>{text(key ?? '–', 80)}</bdi> };
const OTHERS: readonly Column<Row>[] = [
  { head: 'Instance', cell: ({ on }) => <bdi>{text(on ?? 'this instance', 60)}</bdi> },
  { head: 'Took', cell: ({ took }) => duration(took) },
  { head: 'Trigger', cell: ({ trigger }) => trigger },
  { head: 'Outcome', cell: (row) => executionText(row) },
  { head: 'Error', cell: ({ error }) => <bdi>{text(error ?? '', 300)}</bdi> },
];

/** The last executions of a member or a key, those before the page was opened too. */
export function Executions({ of, say }: { of: Detail; say: SayError }): ComponentChild {
  const { kind, key, executions, runsError, backends } = of;
  const isCache = kind === 'cache' && key === undefined;
  return (
    <section class="wide">
      <h2>Last executions</h2>
      {runsError !== undefined && <p class="alert">{text(say(runsError))}</p>}
      {executions.length === 0 && <p class="quiet">None has ended yet.</p>}
      {executions.length > 0 && <Timeline of={executions} />}
      {executions.length > 0 && (
        <Table
          label="Executions"
          columns={isCache ? [BEGAN, KEY, ...OTHERS] : [BEGAN, ...OTHERS]}
          rows={executions.map(withoutRepeated(say))}
          keyOf={(_, index) => index}
          levelOf={(row) => hasFailed(row) && 'warn'}
        />
      )}
      {backends.store && key === undefined && (
        <p class="quiet">Other instances report theirs where a load has failed in the last 24 hours.</p>
      )}
    </section>
  );
}

/** An error that the page says elsewhere, or in the row above, is not in full. */
function withoutRepeated(say: SayError): (row: Row, index: number, rows: readonly Row[]) => Row {
  return (row, index, rows) => {
    const { error } = row;
    if (error === undefined) return row;
    const said = say(error);
    return { ...row, error: said === error && error === rows[index - 1]?.error ? 'as above' : said };
  };
}

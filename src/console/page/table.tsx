import type { ComponentChild } from 'preact';
import { Scroll } from './scroll.tsx';

/** A column of a table; the first one names the rows. */
export interface Column<Row> {
  /** Its heading. The one of a column of buttons is for screen readers only. */
  readonly head: string;
  readonly cell: (row: Row, index: number) => ComponentChild;
  /** More about a cell, for the mouse. */
  readonly title?: (row: Row) => string;
  readonly isButtons?: boolean;
}

/**
 * A table that scrolls by itself. On narrow screens each row is a block of lines, one a cell, with the heading before it: the roles
 * are given, because a browser forgets them where the style is not that of a table.
 */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  levelOf,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row, index: number) => string | number;
  /** The class of a row; `false`, `undefined`: none. */
  levelOf?: (row: Row) => string | false | undefined;
}): ComponentChild {
  return (
    <Scroll label={label}>
      <table role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ head, isButtons }) => (
              <th key={head} role="columnheader" scope="col">
                {isButtons ? <span class="hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)} role="row" class={levelOf?.(row) || ''}>
              {columns.map(({ head, cell, title, isButtons }, place) =>
                place === 0 ? (
                  <th key={head} role="rowheader" scope="row" title={title?.(row)}>
                    {cell(row, index)}
                  </th>
                ) : (
                  <td
                    key={head}
                    role="cell"
                    class={isButtons ? 'buttons' : ''}
                    title={title?.(row)}
                    data-head={isButtons ? undefined : head}
                  >
                    {cell(row, index)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

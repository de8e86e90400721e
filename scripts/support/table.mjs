import Table from 'cli-table3';

/**
 * Prints a table; all columns but the first are flush right.
 *
 * @param {readonly string[]} head
 * @param {readonly (readonly (string | number)[])[]} rows
 */
export function printTable(head, rows) {
  const colAligns = head.map((_, column) => (column === 0 ? 'left' : 'right'));
  const noLines = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' };
  const table = new Table({ head, style: { head: [], border: [] }, colAligns, chars: noLines });
  table.push(...rows);
  console.log(table.toString());
}

import Table from 'cli-table3';

/** A table for a terminal: a header line and a line for each row, with numbers aligned to the right. */
export function table(head: string[], rows: (string | number)[][]): string {
  const made = new Table({
    head,
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
    style: { head: [], border: [] },
    colAligns: head.map((_, column) => (column === 0 ? 'left' : 'right')),
  });
  made.push(...rows);
  return made.toString();
}

export function count(n: number): string {
  return n.toLocaleString('en');
}

export function nanoseconds(ns: number | undefined): string {
  if (ns === undefined) return '-';
  return ns < 1000 ? ns.toFixed(1) : count(Math.round(ns));
}

export function ratio(n: number): string {
  return n.toFixed(n < 10 ? 2 : 0);
}

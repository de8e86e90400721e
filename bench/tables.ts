import Table from 'cli-table3';
import type { Allocation } from './allocation.ts';
import type { Behaviour } from './behaviour.ts';
import type { Figure } from './fresh-read.ts';

export function freshReadTable(title: string, figures: readonly Figure[]): string {
  const rows = figures.toSorted((a, b) => a.ns - b.ns);
  return table(
    [title, 'ns', 'to floor', 'to tickless'],
    rows.map(({ name, ns, toFloor, toTickless }) => [name, ns.toFixed(1), ratio(toFloor), ratio(toTickless)]),
  );
}

export function allocationTable(allocations: readonly Allocation[]): string {
  const clock = allocations[0]?.bytes ?? 0;
  return table(
    ['Allocated by one fresh read', 'bytes', 'beyond the clock read'],
    allocations.map(({ name, bytes }) => [name, bytes.toFixed(1), Math.abs(bytes - clock).toFixed(1)]),
  );
}

export function behaviourTable(behaviours: readonly Behaviour[]): string {
  return table(
    ['Loads', 'outage, 40 reads', 'of them served', 'overlapping', '10 first reads'],
    behaviours.map((each) => [
      each.name,
      each.outageLoads,
      each.outageServed,
      each.overlappingLoads ?? '-',
      each.firstReadLoads,
    ]),
  );
}

function table(head: string[], rows: (string | number)[][]): string {
  const made = new Table({
    head,
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
    style: { head: [], border: [] },
    colAligns: head.map((_, column) => (column === 0 ? 'left' : 'right')),
  });
  made.push(...rows);
  return made.toString();
}

function ratio(n: number): string {
  return n.toFixed(n < 10 ? 2 : 0);
}

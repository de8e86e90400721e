import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { type Line, linesOf, membersOf, outagesOf } from '../causes.ts';
import type { OverviewChanges } from '../changes.ts';
import type { Overview } from '../overview.ts';
import { LEVELS, type Level, type MemberRow } from '../rows.ts';
import type { ShownEvent } from '../shown-event.ts';

/** How the page learns of changes. */
export const connection: Signal<'opening' | 'live' | 'polling' | 'offline'> = signal('opening');

/** All but the rows. */
export const overview: Signal<Omit<Overview, 'members'> | undefined> = signal(undefined);

/** When the console has answered last, by the clock of {@link now}; `undefined`: never. */
export const answeredAt: Signal<number | undefined> = signal(undefined);

/** The ids of the rows, in the order in which the console lists them. */
export const order: Signal<readonly string[]> = signal([]);

/** One signal a row, so that a change renders one row. */
const rows: Map<string, Signal<MemberRow>> = new Map();

/** Grows when a row has changed. */
const version = signal(0);

/** The clock of the console in epoch milliseconds, once a second: ages count by it. */
export const now: Signal<number> = signal(Date.now());
let ahead = 0;

export function row(id: string): Signal<MemberRow> | undefined {
  return rows.get(id);
}

export function receive(changes: OverviewChanges): void {
  batch(() => apply(changes)); // one pass of all that depends on it
}

function apply({ changed, order: ids, ...others }: OverviewChanges): void {
  ahead = others.at - Date.now();
  for (const one of changed) {
    const known = rows.get(one.id);
    if (known === undefined) rows.set(one.id, signal(one));
    else known.value = one;
  }
  if (ids !== undefined) {
    const are = new Set(ids);
    for (const id of rows.keys()) if (!are.has(id)) rows.delete(id);
    order.value = ids;
  }
  if (changed.length > 0) version.value += 1;
  overview.value = others;
  tick();
  answeredAt.value = now.value;
}

export function tick(): void {
  now.value = Date.now() + ahead;
}

/** Filters of the list. */
export const search: Signal<string> = signal('');
export const level: Signal<Level | undefined> = signal(undefined);

/** How many members there are of each level. */
export const counts: ReadonlySignal<Readonly<Record<Level, number>>> = computed(() => {
  version.value;
  const found = Object.fromEntries(LEVELS.map((one) => [one, 0])) as Record<Level, number>;
  for (const id of order.value) found[rows.get(id)?.peek().level ?? 'ok'] += 1;
  return found;
});

/** The backends that do not answer. */
export const outages: ReadonlySignal<readonly string[]> = computed(() => {
  version.value;
  return outagesOf(order.value.flatMap((id) => rows.get(id)?.peek() ?? []));
});

/** The rows that the filters leave. */
export const shown: ReadonlySignal<readonly MemberRow[]> = computed(() => {
  version.value;
  const text = search.value.trim().toLowerCase();
  return order.value.flatMap((id) => {
    const one = rows.get(id)?.peek();
    if (one === undefined || (level.value !== undefined && one.level !== level.value)) return [];
    const isFound =
      text === '' ||
      one.name.toLowerCase().includes(text) ||
      one.problems.some(({ message }) => message.toLowerCase().includes(text));
    return isFound ? [one] : [];
  });
});

/** The causes whose members are shown. */
export const unfolded: Signal<ReadonlySet<string>> = signal(new Set());

/** The lines of the list. A search leaves each member a line of its own. */
export const lines: ReadonlySignal<readonly Line[]> = computed(() =>
  search.value.trim() === '' ? linesOf(shown.value, unfolded.value) : membersOf(shown.value),
);

/** Events since the page was opened, of all members; the newest last. */
export const events: Signal<readonly ShownEvent[]> = signal([]);

export function receiveEvents(more: readonly ShownEvent[]): void {
  const last = events.value.at(-1)?.number ?? 0;
  // After a restart of the console the numbers begin again.
  const isAnew = more.length > 0 && (more.at(-1)?.number ?? 0) < last;
  const fresh = isAnew ? more : more.filter(({ number }) => number > last);
  if (fresh.length > 0) events.value = [...events.value, ...fresh].slice(-2000);
}

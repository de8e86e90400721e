import type { Difference } from '../index.ts';
import { ignoreThenable } from '../time/deferred.ts';
import type { ResolvedConsoleOptions, ShownAbout } from './console-options.ts';
import { shownText } from './redact.ts';

/** Values as operators see them. */
export type ShownValues = Pick<ResolvedConsoleOptions, 'showValue' | 'redact'>;

/** In characters. */
const LONGEST_VALUE = 65_536;

/** A value as `showValue` returns it, as JSON; `undefined`: it is not shown. Never throws. */
export function shownValue(
  value: unknown,
  about: ShownAbout,
  { showValue, redact }: ShownValues,
): string | undefined {
  if (showValue === undefined) return undefined;
  try {
    const shown = jsonOf(showValue(value, about));
    return shown === undefined ? undefined : shownText(shown, LONGEST_VALUE, redact);
  } catch {
    return undefined;
  }
}

/** A part of a value that differs between two versions. Without `showValue` there are none: their ids are part of the value. */
interface ShownPart {
  readonly id: string;
  readonly before?: string;
  readonly after?: string;
}

/** The changes between two versions, with as much of the values as is shown. */
export interface ShownDifference {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Samples, at most 20 of each kind. */
  readonly parts: readonly ShownPart[];
}

export function shownDifference(
  { added, removed, changed, unchanged }: Difference,
  name: string,
  values: ShownValues,
): ShownDifference {
  const shown = (value: unknown, part: unknown): string | undefined =>
    shownValue(value, { name, part }, values);
  const partOf = (id: unknown, sides: Readonly<Record<string, unknown>>): ShownPart => {
    const texts = Object.entries(sides).flatMap(([side, value]) => {
      const text = shown(value, id);
      return text === undefined ? [] : [[side, text]];
    });
    const named = id === undefined ? 'the whole value' : shownText(String(id), 200, values.redact);
    return { id: named, ...fromFirstDifference(Object.fromEntries(texts)) };
  };
  const parts = [
    ...added.samples.map(({ id, value }) => partOf(id, { after: value })),
    ...removed.samples.map(({ id, value }) => partOf(id, { before: value })),
    ...changed.samples.map(({ id, before, after }) => partOf(id, { before, after })),
  ];
  return {
    added: added.count,
    removed: removed.count,
    changed: changed.count,
    unchanged,
    // A part of which `showValue` shows nothing has no id either.
    parts: parts.filter(({ before, after }) => before !== undefined || after !== undefined),
  };
}

/**
 * Maps and Sets as arrays, so that `showValue` may return a value as it is. Beyond the characters that are shown, all is left out: a
 * value may be large, or have a part in it any number of times.
 */
function jsonOf(value: unknown): string | undefined {
  let left = 2 * LONGEST_VALUE;
  return JSON.stringify(
    value,
    (_, field: unknown) => {
      if (left <= 0) return undefined;
      if (field !== undefined) left = Math.max(0, left - 1 - (typeof field === 'string' ? field.length : 0));
      ignoreThenable(field); // a toJSON() may be asynchronous
      if (field instanceof Map || field instanceof Set) return firstOf(field, left);
      if (Array.isArray(field) && field.length > left) return field.slice(0, left + 1);
      return typeof field === 'bigint' ? String(field) : field;
    },
    2,
  );
}

function firstOf(items: Iterable<unknown>, most: number): unknown[] {
  const first: unknown[] = [];
  for (const item of items) if (first.push(item) > most) break;
  return first;
}

/** A beginning that both have says nothing from this many characters on. */
const LONGEST_SAME = 100;

/** In characters, before the first one that differs. */
const LEAD = 40;

/** Two long texts from shortly before they differ. Pure. */
function fromFirstDifference(sides: { readonly before?: string; readonly after?: string }): object {
  const { before, after } = sides;
  if (before === undefined || after === undefined) return sides;
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  if (at <= LONGEST_SAME) return sides;
  return { before: `…${before.slice(at - LEAD)}`, after: `…${after.slice(at - LEAD)}` };
}

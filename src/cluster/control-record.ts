import { parseJson } from '../bounded-json.ts';
import type { Control } from '../engine/control.ts';

/** One field of a {@link Control}, with the version under which it was set. */
interface SetField<V> {
  readonly is: V;
  readonly at: number;
}

/** The settings of one member. */
type ControlOfMember = {
  readonly [field in keyof Control]?: SetField<NonNullable<Control[field]>>;
};

/** The settings of members on all instances, by the names of the members. */
export type ControlRecord = Readonly<Record<string, ControlOfMember>>;

/** Settings for the member of a name. */
export interface NamedControl {
  readonly name: string;
  readonly control: Control;
}

/** The record with these changes, of that version. Pure. */
export function withControls(
  record: ControlRecord,
  changes: readonly NamedControl[],
  version: number,
): ControlRecord {
  const names = new Map(Object.entries(record));
  for (const { name, control } of changes) {
    const set = Object.entries(control).map(([field, is]) => [field, { is, at: version }]);
    names.set(name, { ...names.get(name), ...(Object.fromEntries(set) as ControlOfMember) });
  }
  return Object.fromEntries(names);
}

/** The settings of a member from after a version, but for the fields of changes that are being published here. Pure. */
export function setAfter(
  record: ControlRecord,
  name: string,
  version: number,
  unpublished: readonly NamedControl[],
): Control {
  const own = unpublished.filter((change) => change.name === name);
  const isNews = ([field, { at }]: [string, SetField<unknown>]): boolean =>
    at > version && !own.some(({ control }) => Object.hasOwn(control, field));
  const news = Object.hasOwn(record, name) ? Object.entries(record[name] as object).filter(isNews) : [];
  return Object.fromEntries(news.map(([field, { is }]) => [field, is])) as Control;
}

/** The record as it travels. */
export const controlCodec = {
  format: 'tickless-control/1',
  encode: (record: unknown): string => JSON.stringify(record),
  decode: (text: string | Uint8Array): ControlRecord => checked(parseJson(String(text)) as ControlRecord),
};

function checked(record: ControlRecord): ControlRecord {
  const isSet = (field: SetField<unknown> | undefined, holds: (is: never) => boolean): boolean =>
    field === undefined || (Number.isSafeInteger(field.at) && holds(field.is as never));
  const isSound = Object.values(record).every(
    ({ isPaused, schedule }) =>
      isSet(isPaused, (is) => typeof is === 'boolean') &&
      isSet(schedule, ({ of, given }) => typeof of === 'string' && Array.isArray(given)),
  );
  if (!isSound) throw new TypeError('not a record of what was set everywhere');
  return record;
}

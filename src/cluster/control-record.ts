import { boardCodec } from './board-codec.ts';
import type { Codec } from './store-contract.ts';

/** The members that were paused or resumed on all instances, by their names, each with the version under which that was done. */
export type ControlRecord = Readonly<
  Record<string, { readonly isPaused?: { readonly is: boolean; readonly at: number } }>
>;

/** A member of that name is paused or resumed. `undefined`: neither, the record is published again. */
export interface NamedPause {
  readonly name: string;
  readonly isPaused: boolean | undefined;
}

/** The record with these changes, of that version. Pure. */
export function withPauses(
  record: ControlRecord,
  changes: readonly NamedPause[],
  version: number,
): ControlRecord {
  const names = new Map(Object.entries(record));
  for (const { name, isPaused: is } of changes)
    if (is !== undefined) names.set(name, { isPaused: { is, at: version } });
  return Object.fromEntries(names);
}

/** Whether a member was paused or resumed after a version, unless it is being done here. `undefined`: it was not. Pure. */
export function pausedAfter(
  record: ControlRecord,
  name: string,
  version: number,
  unpublished: readonly NamedPause[],
): boolean | undefined {
  const { isPaused } = (Object.hasOwn(record, name) && record[name]) || {};
  const isOwn = unpublished.some((change) => change.name === name && change.isPaused !== undefined);
  return isPaused !== undefined && isPaused.at > version && !isOwn ? isPaused.is : undefined;
}

/** The record of an edition, in which no change is later than its version. Pure. */
export function datedRecord(record: ControlRecord, version: number): ControlRecord {
  const names = Object.entries(record).map(([name, { isPaused }]) => [
    name,
    isPaused === undefined ? {} : { isPaused: { ...isPaused, at: Math.min(isPaused.at, version) } },
  ]);
  return Object.fromEntries(names);
}

/** The record as it travels. */
export const controlCodec: Codec = boardCodec('tickless-control/1', checked);

function checked(record: ControlRecord): ControlRecord {
  const isSound = Object.values(record).every(
    ({ isPaused }) =>
      isPaused === undefined || (Number.isSafeInteger(isPaused.at) && typeof isPaused.is === 'boolean'),
  );
  if (!isSound) throw new TypeError('not a record of paused members');
  return record;
}

import type { FleetInstance, MemberName } from '../data/fleet.ts';
import type { NotEverywhereError } from '../errors.ts';
import { idOf } from './fleet.ts';

/** Instances that are not known to hold a version. */
export type Missing = NotEverywhereError['missing'];

/**
 * Those of the instances that do not hold a version of a member, or a newer one. An instance without a value is not among them:
 * its first read finds the newest one. Nor is one without the member, unless its report leaves members out.
 */
export function notHolding(
  instances: readonly FleetInstance[],
  wanted: MemberName,
  version: number,
): Missing {
  return instances.flatMap(({ id, host, leftOut, members }) => {
    const held = members.filter((one) => idOf(one) === idOf(wanted)); // several where they share a store object
    if (held.length === 0) return leftOut > 0 ? [{ id, host, version: undefined }] : [];
    const other = held.find((one) =>
      one.version === undefined ? one.age !== undefined : one.version < version,
    );
    return other === undefined ? [] : [{ id, host, version: other.version }];
  });
}

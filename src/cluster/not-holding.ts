import type { FleetInstance } from '../data/fleet.ts';
import type { NotEverywhereError } from '../errors.ts';

/** Instances that are not known to hold a version. */
export type Missing = NotEverywhereError['missing'];

/**
 * Those of the instances that do not hold a version of a member, or a newer one. An instance without a value is not among them,
 * unless it was reading an older one from the store, or any: its next read finds the newest one. Nor is one without the member,
 * unless its report leaves members out.
 *
 * @param instances with this member alone; they have it several times where members share a store object.
 */
export function notHolding(instances: readonly FleetInstance[], version: number): Missing {
  return instances.flatMap(({ id, host, leftOut, members }) => {
    if (members.length === 0) return leftOut > 0 ? [{ id, host, version: undefined }] : [];
    const other = members.find(({ version: held, age, takingOver = version }) =>
      held === undefined ? age !== undefined || takingOver < version : held < version,
    );
    return other === undefined ? [] : [{ id, host, version: other.version }];
  });
}

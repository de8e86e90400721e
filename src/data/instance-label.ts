import type { InstanceName } from './fleet.ts';

/**
 * Names instances for people: by the host, where others run on it too also by the process, `pod-7 (5637)`, where that does not
 * distinguish them by the id.
 *
 * @returns the labels by id.
 */
export function instanceLabels(instances: readonly InstanceName[]): ReadonlyMap<string, string> {
  const byHost = distinct(instances, ({ host }) => host);
  const byProcess = distinct(instances, processLabel);
  return new Map(
    instances.map(({ id, host }) => [id, byHost.get(id) ?? byProcess.get(id) ?? `${host} (${id})`]),
  );
}

/** Names the holders of leases likewise, by owner; always by the process too: others of the host may hold nothing now. */
export function holderLabels(
  records: readonly { readonly owner: string; readonly host: string }[],
): ReadonlyMap<string, string> {
  const holders = new Map(records.map(({ owner, host }) => [owner, { id: owner, host }]));
  const byProcess = distinct([...holders.values()], processLabel);
  return new Map(records.map(({ owner, host }) => [owner, byProcess.get(owner) ?? `${host} (${owner})`]));
}

/** A single instance with its process, where others are not known: `pod-7 (5637)`. */
export function processLabel({ host, id }: InstanceName): string {
  return `${host} (${processOf(id)})`;
}

/** `5637` of `5637-51c0f75b-38cb-4c5f-b706-c549c0a5a854`, `5637/2` of the second store object of that process. */
function processOf(id: string): string {
  return id.replace(/-[^/]*/, '');
}

/** By id, the labels that one instance alone has. */
function distinct(
  instances: readonly InstanceName[],
  labelOf: (instance: InstanceName) => string,
): Map<string, string> {
  const ids = new Map<string, string[]>();
  for (const instance of instances) {
    const label = labelOf(instance);
    ids.set(label, [...(ids.get(label) ?? []), instance.id]);
  }
  return new Map(
    [...ids].flatMap(([label, [id, ...others]]) => (id && others.length === 0 ? [[id, label]] : [])),
  );
}

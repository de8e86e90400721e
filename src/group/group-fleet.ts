import type { Fleet, FleetInstance, MemberName } from '../data/fleet.ts';
import type { Coordinator } from '../engine/coordinator.ts';
import { withJson } from '../json.ts';
import type { Member } from './member.ts';

/** The fleet of the members of a group: of each store that they use, only these members. */
export async function fleetOfMembers(members: readonly Member[]): Promise<Fleet> {
  const stores = new Map<object, { readonly coordinator: Coordinator; readonly of: MemberName[] }>();
  for (const { engine } of members) {
    const { coordinator } = engine;
    if (coordinator?.store === undefined) continue;
    const { of } = stores.get(coordinator.store) ?? { of: [] };
    stores.set(coordinator.store, { coordinator, of: [...of, engine.options] });
  }
  const fleets = await Promise.all(
    Array.from(stores.values(), ({ coordinator, of }) => coordinator.fleet(of)),
  );
  const instances = joined(fleets.flatMap((fleet) => fleet.instances));
  const live = new Set(instances.map(({ id }) => id));
  return withJson({
    instances,
    idle: joined(fleets.flatMap(({ idle }) => idle)).filter(({ id }) => !live.has(id)),
    members: fleets.flatMap((fleet) => fleet.members),
  });
}

/** Each instance once: two store objects may be of one backend. */
function joined(instances: readonly FleetInstance[]): readonly FleetInstance[] {
  const byId = new Map<string, FleetInstance>();
  for (const instance of instances) {
    const { members: others = [] } = byId.get(instance.id) ?? {};
    byId.set(instance.id, { ...instance, members: [...others, ...instance.members] });
  }
  return [...byId.values()];
}

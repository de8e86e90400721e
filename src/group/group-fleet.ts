import type { Fleet, FleetInstance, MemberName, UnansweredStore } from '../data/fleet.ts';
import type { Coordinator } from '../engine/coordinator.ts';
import { withJson } from '../json.ts';
import type { Member } from './member.ts';

/**
 * The fleet of the members of a group: of each store that they use, only these members. Rejects with the error of the first store
 * where none answers.
 */
export async function fleetOfMembers(members: readonly Member[]): Promise<Fleet> {
  const stores = new Map<object, { readonly coordinator: Coordinator; readonly of: MemberName[] }>();
  for (const { engine } of members) {
    const { coordinator } = engine;
    if (coordinator?.store === undefined) continue;
    const { of } = stores.get(coordinator.store) ?? { of: [] };
    stores.set(coordinator.store, { coordinator, of: [...of, engine.options] });
  }
  const fleets: Fleet[] = [];
  const unanswered: UnansweredStore[] = [];
  const asked = [...stores.values()];
  const answers = await Promise.allSettled(asked.map(({ coordinator, of }) => coordinator.fleet(of)));
  for (const [index, answer] of answers.entries()) {
    if (answer.status === 'fulfilled') fleets.push(answer.value);
    else unanswered.push({ members: namesOf(asked[index]?.of ?? []), error: answer.reason as Error });
  }
  const [first] = unanswered;
  if (first !== undefined && fleets.length === 0) throw first.error;
  const instances = joined(fleets.flatMap((fleet) => fleet.instances));
  const live = new Set(instances.map(({ id }) => id));
  return withJson({
    instances,
    idle: joined(fleets.flatMap(({ idle }) => idle)).filter(({ id }) => !live.has(id)),
    members: fleets.flatMap((fleet) => fleet.members),
    ...(first === undefined ? {} : { unanswered }),
  });
}

function namesOf(members: readonly MemberName[]): readonly MemberName[] {
  return members.map(({ name }) => ({ name }));
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

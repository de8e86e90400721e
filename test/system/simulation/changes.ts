import type { Deed, Scene } from './deed.ts';
import { KEYS } from './instance.ts';
import type { Change } from './subject.ts';

/** A change of the value of the scene, or of its key. */
function byHand(
  weight: number,
  kind: Change['kind'],
  change: (scene: Scene) => unknown,
  of: 'subject' | 'ofKey' = 'subject',
): Deed<Scene> {
  const act = (scene: Scene): void => {
    scene.world.change(scene[of], kind);
    void change(scene);
  };
  return { weight, act };
}

/** A change of all keys. */
function ofAllKeys(
  weight: number,
  kind: Change['kind'],
  change: (codes: Scene['instance']['codes']) => unknown,
): Deed<Scene> {
  const act = ({ world, instance }: Scene): void => {
    for (const key of KEYS) world.change(instance.subject(`codes[${key}]`), kind);
    void change(instance.codes);
  };
  return { weight, act };
}

/** Actions of operators. */
export const changes: Readonly<Record<string, Deed<Scene>>> = {
  refresh: {
    weight: 8,
    act: ({ caller, subject, value }) => caller.call(subject, 'refresh', () => value.refresh({ here: true })),
  },
  refreshKey: {
    weight: 6,
    act: ({ caller, ofKey, instance, key }) =>
      caller.call(ofKey, 'refresh', () => instance.codes.refresh(key, { here: true })),
  },
  execute: {
    weight: 3,
    act: ({ caller, instance }) =>
      caller.call(instance.subject('report'), 'execute', () => instance.report.execute()),
  },
  invalidate: byHand(8, 'invalidate', ({ value }) => value.invalidate({ here: true })),
  drop: byHand(4, 'drop', ({ value }) => value.invalidate({ drop: true, here: true })),
  set: {
    weight: 6,
    act: ({ caller, subject, value }) => caller.set(subject, (set) => value.set(set, { here: true })),
  },
  setKey: {
    weight: 4,
    act: ({ caller, ofKey, instance, key }) =>
      caller.set(ofKey, (set) => instance.codes.set(key, set, { here: true })),
  },
  invalidateKey: byHand(
    5,
    'invalidate',
    ({ instance, key }) => instance.codes.invalidate(key, { here: true }),
    'ofKey',
  ),
  delete: byHand(4, 'drop', ({ instance, key }) => instance.codes.delete(key, { here: true }), 'ofKey'),
  clear: ofAllKeys(1, 'drop', (codes) => codes.clear({ here: true })),
  invalidateAll: ofAllKeys(2, 'invalidate', (codes) => codes.invalidateWhere(() => true)),
  invalidateTag: ofAllKeys(2, 'tag', (codes) => codes.invalidateTag('tagged', { here: true })),
  pause: byHand(2, 'pause', ({ value }) => value.pause({ here: true })),
  resume: {
    weight: 6,
    act: ({ caller, instance, world }) => {
      instance.resume();
      if (world.random.chance(0.5)) caller.startGroup(instance);
    },
  },
  reschedule: {
    weight: 6,
    act: ({ world, instance }) => {
      const subject = instance.subject('local');
      const delay = world.scenario.period * world.random.pick([0.3, 1, 2]);
      subject.options.delay = delay;
      world.change(subject, 'reschedule');
      instance.local.reschedule(delay);
    },
  },
};

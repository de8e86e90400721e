import type { Deed, Scene } from './deed.ts';
import { KEYS } from './instance.ts';

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
    act: ({ caller, instance }) => {
      caller.call(instance.subject('report'), 'execute', () => instance.report.execute());
    },
  },
  invalidate: {
    weight: 8,
    act: ({ world, subject, value }) => {
      world.change(subject, 'invalidate');
      value.invalidate({ here: true });
    },
  },
  drop: {
    weight: 4,
    act: ({ world, subject, value }) => {
      world.change(subject, 'drop');
      value.invalidate({ drop: true, here: true });
    },
  },
  set: {
    weight: 6,
    act: ({ caller, subject, value }) => caller.set(subject, (set) => value.set(set, { here: true })),
  },
  setKey: {
    weight: 4,
    act: ({ caller, ofKey, instance, key }) =>
      caller.set(ofKey, (set) => instance.codes.set(key, set, { here: true })),
  },
  invalidateKey: {
    weight: 5,
    act: ({ world, ofKey, instance, key }) => {
      world.change(ofKey, 'invalidate');
      instance.codes.invalidate(key, { here: true });
    },
  },
  delete: {
    weight: 4,
    act: ({ world, ofKey, instance, key }) => {
      world.change(ofKey, 'drop');
      instance.codes.delete(key, { here: true });
    },
  },
  clear: {
    weight: 1,
    act: ({ world, instance }) => {
      for (const key of KEYS) world.change(instance.subject(`codes[${key}]`), 'drop');
      instance.codes.clear({ here: true });
    },
  },
  invalidateAll: {
    weight: 2,
    act: ({ world, instance }) => {
      for (const key of KEYS) world.change(instance.subject(`codes[${key}]`), 'invalidate');
      instance.codes.invalidateWhere(() => true);
    },
  },
  invalidateTag: {
    weight: 2,
    act: ({ world, instance }) => {
      for (const key of KEYS) world.change(instance.subject(`codes[${key}]`), 'tag');
      instance.codes.invalidateTag('tagged', { here: true });
    },
  },
  pause: {
    weight: 2,
    act: ({ world, subject, value }) => {
      world.change(subject, 'pause');
      value.pause({ here: true });
    },
  },
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

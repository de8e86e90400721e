import type { Deed, Scene } from './deed.ts';

/** Calls of readers and schedulers. */
export const reads: Readonly<Record<string, Deed<Scene>>> = {
  get: {
    weight: 30,
    act: ({ caller, subject, value }) => caller.call(subject, 'get', () => value.get()),
  },
  getKey: {
    weight: 30,
    act: ({ caller, ofKey, instance, key }) => caller.call(ofKey, 'get', () => instance.codes.get(key)),
  },
  current: {
    weight: 5,
    act: ({ caller, subject, value }) => caller.current(subject, () => value.current),
  },
  currentKey: {
    weight: 5,
    act: ({ caller, ofKey, instance, key }) => caller.current(ofKey, () => instance.codes.current(key)),
  },
  patient: {
    weight: 4,
    act: ({ world, caller, subject, value }) => {
      const patience = world.random.pick([0, 20, 1000, Infinity]);
      caller.call(subject, 'get', () => value.get({ patience }), { mayWait: patience > 0, patience });
    },
  },
  leaves: {
    weight: 4,
    act: ({ caller, subject, value }) =>
      caller.leave(subject, 50, (signal) => value.get({ signal, patience: 50 })),
  },
  getMany: {
    weight: 5,
    act: ({ caller, instance }) => caller.getMany(instance),
  },
  request: {
    weight: 8,
    act: ({ caller, instance }) => {
      caller.call(instance.subject('report'), 'request', () => instance.report.requestStart());
    },
  },
  startKeys: {
    weight: 2,
    act: ({ caller, instance }) => caller.ask(() => instance.codes.requestStart()),
  },
  startGroup: {
    weight: 6,
    act: ({ caller, instance }) => caller.startGroup(instance),
  },
  nightly: {
    weight: 4,
    act: ({ caller, instance }) => caller.ask(() => instance.nightly().catch(() => {})), // its scheduler gets the error
  },
};

import type { RefreshingValue } from '../../../src/index.ts';
import { type Instance, KEYS } from './instance.ts';
import { type Loaded, Subject, type SubjectOptions } from './subject.ts';
import { watchesOf } from './watches/index.ts';

/** The subjects of an instance, by their names: its values, its keys and its tasks. */
export function subjectsOf(instance: Instance): Map<string, Subject> {
  const { world, rates, local, calendar, codes, report } = instance;
  const { hasLock, hasStore, hasKeyLocks, period, timeout, coolDown, leaseFor } = world.scenario;
  const { maxStaleness, whenBackendDown } = world.scenario;
  const isLimited = maxStaleness < Infinity;
  const mayLoadWithoutLock = whenBackendDown === 'load';
  const common = { timeout, coolDown, mayLoadWithoutLock, mayBeTooStale: false };
  const alone = { ...common, hasLock: false, hasStore: false, lockName: undefined, holdsValue: true };
  const isShared = hasLock;
  const shared = (lockName: string): SubjectOptions => ({
    ...alone,
    hasLock,
    hasStore,
    lockName: isShared ? lockName : undefined,
    delay: isShared ? undefined : period,
  });
  const subjects = new Map<string, Subject>();
  const add = (
    id: string,
    options: SubjectOptions,
    peek: Subject['peek'],
    inspect: Subject['inspect'],
  ): void => {
    const subject = new Subject(`${instance.name}.${id}`, instance, options, peek, inspect);
    subject.watchedBy(...watchesOf(subject, world));
    subjects.set(id, subject);
  };
  const addValue = (name: string, options: SubjectOptions, value: RefreshingValue<Loaded>): void => {
    add(
      name,
      options,
      () => value.peek(),
      () => value.inspect(),
    );
  };
  const none = (): undefined => undefined;
  addValue('rates', { ...shared('rates'), mayBeTooStale: isLimited }, rates);
  addValue('local', { ...alone, delay: period }, local);
  addValue('calendar', { ...alone, delay: undefined }, calendar);
  for (const key of KEYS) {
    const one = hasKeyLocks ? shared(`codes["${key}"]`) : { ...alone, delay: undefined };
    add(
      `codes[${key}]`,
      { ...one, mayBeTooStale: isLimited },
      () => codes.peek(key),
      () => codes.inspect(key),
    );
  }
  const task = { ...shared('report'), hasStore: false, holdsValue: false, mayLoadWithoutLock: false };
  const ofTask = { ...task, lockName: hasLock ? 'report' : undefined, delay: hasLock ? undefined : period };
  add('report', ofTask, none, () => report.inspect());
  add('nightly', { ...task, hasLock: true, lockName: 'nightly', timeout: leaseFor }, none, none);
  return subjects;
}

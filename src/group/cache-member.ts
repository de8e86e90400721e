import { reasonOf, showKey } from '../errors.ts';
import type { KeyedMember } from '../options/group-handle.ts';
import { backendHealth, backupHealth, failureKind, hangingHealth, runStateHealth } from './health.ts';
import { causesFirst, type HealthProblem, Member } from './member.ts';
import { requiredHealth } from './required-health.ts';

const REFUSING = 'reads of keys are refused, and loads go on';

/** A cache as a member of a group. */
export class CacheMember<V> extends Member {
  readonly #member: KeyedMember<V>;

  constructor(member: KeyedMember<V>) {
    super(member, member.required !== undefined);
    this.#member = member;
  }

  health(): HealthProblem[] {
    const { name } = this;
    const { engine } = this.#member;
    const required = requiredHealth(this.#member);
    const failing = this.#member.failing();
    const runState = runStateHealth(engine.runState, name);
    const backends = backendHealth(engine.coordinator?.problems(), name);
    const problems = (['failing', 'refused'] as const).flatMap((kind): HealthProblem[] => {
      const such = failing.filter(({ lastError }) => failureKind(lastError) === kind);
      const [first] = such;
      if (first === undefined) return [];
      const { key, lastError: error } = first;
      const keys = such.length === 1 ? 'a key' : `${such.length} keys`;
      const message = `${keys} failed, for example ${showKey(key)}: ${reasonOf(error as Error)}`;
      return [{ name, key, kind, isFatal: false, message, error }];
    });
    if (failing.length === 0 && engine.reporter.isRefusing)
      problems.push({ name, kind: 'failing', isFatal: false, message: REFUSING });
    const backups = backupHealth(this.#member.backups(), name);
    const hanging = hangingHealth(engine.options);
    return causesFirst(backends, [...runState, ...required, ...problems, ...backups, ...hanging]);
  }

  firstLoads(): readonly (() => Promise<void>)[] {
    const { required } = this.#member;
    return required === undefined ? [] : [() => required.promise];
  }
}

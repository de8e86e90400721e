import type { Refreshable, StartOfOne } from '../due/refreshable.ts';
import { reasonOf, showKey } from '../errors.ts';
import type { KeyedMember } from '../options/group-handle.ts';
import { backendHealth, backupHealth, failureKind, hangingHealth, runStateHealth } from './health.ts';
import { causesFirst, type GroupMember, groupMember, type HealthProblem, type Member } from './member.ts';
import { requiredHealth } from './required-health.ts';

/** A cache as a member of a group. */
export class CacheMember<V> implements Member {
  readonly name: string;
  readonly public: GroupMember;
  readonly isRequired: boolean;
  readonly engine: Member['engine'];
  readonly status: (hasValues: boolean) => unknown;
  readonly #member: KeyedMember<V>;
  readonly #keys: Refreshable;

  /** @param keys its due keys. */
  constructor(member: KeyedMember<V>, keys: Refreshable) {
    this.name = member.options.name;
    this.public = groupMember(member, this);
    this.isRequired = member.required !== undefined;
    this.engine = member.engine;
    this.status = member.status;
    this.#member = member;
    this.#keys = keys;
  }

  startNext(start: StartOfOne): boolean {
    return this.#keys.startNext(start);
  }

  keepAlive(): void {
    this.#keys.keepAlive();
  }

  rescan(): void {
    this.#keys.rescan();
  }

  compareClocks(): void {
    this.#keys.compareClocks();
  }

  /**
   * Keys whose loads fail make no instance unfit to serve. They are reported as one problem of each kind.
   */
  health(): HealthProblem[] {
    const { name } = this;
    const { engine } = this.#member;
    const required = requiredHealth(this.#member);
    const failing = this.#member.failing();
    const runState = runStateHealth(engine.runState, name);
    const backends = backendHealth(engine.problems(), name);
    const problems = (['failing', 'refused'] as const).flatMap((kind): HealthProblem[] => {
      const such = failing.filter(({ lastError }) => failureKind(lastError) === kind);
      const [first] = such;
      if (first === undefined) return [];
      const { key, lastError: error } = first;
      const keys = such.length === 1 ? 'a key' : `${such.length} keys`;
      const message = `${keys} failed, for example ${showKey(key)}: ${reasonOf(error as Error)}`;
      return [{ name, key, kind, isFatal: false, message, error }];
    });
    if (failing.length === 0 && engine.loader.reporter.isRefusing)
      problems.push({
        name,
        kind: 'failing',
        isFatal: false,
        message: 'reads of keys are refused, and loads go on',
      });
    const backups = backupHealth(this.#member.backups(), name);
    const hanging = hangingHealth(engine.options);
    return causesFirst(backends, [...runState, ...required, ...problems, ...backups, ...hanging]);
  }

  firstLoads(): readonly (() => Promise<void>)[] {
    const { required } = this.#member;
    return required === undefined ? [] : [() => required.promise];
  }
}

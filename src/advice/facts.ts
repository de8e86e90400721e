import type { Fleet } from '../data/fleet.ts';
import type { LockLike, StoreLike } from '../engine/coordinator.ts';
import type { EngineOptions } from '../engine/engine-options.ts';

/** A member, as far as advice looks at it. */
export interface AdvisedMember {
  readonly public: {
    readonly kind: 'value' | 'cache' | 'executor';
    readonly name: string;
    readonly namespace: string | undefined;
    readonly lock: LockLike | undefined;
    readonly store: StoreLike | undefined;
  };
  readonly engine: { readonly options: EngineOptions };
  status(hasValues: boolean): unknown;
}

/** All that a rule knows of a member. Durations are in milliseconds. */
export interface Facts {
  readonly kind: AdvisedMember['public']['kind'];
  readonly name: string;
  readonly options: Pick<
    EngineOptions,
    'maxStalenessMs' | 'whenTooStale' | 'timeoutMs' | 'freshness' | 'declines'
  >;
  /** The schedule, where it is a finite duration; else NaN, of which no comparison holds. */
  readonly periodMs: number;
  /** The limit for the age of the value in place: its load may have stated one. `undefined`: it is not loaded, or a cache. */
  readonly statedMaxStalenessMs: number | undefined;
  readonly hasLock: boolean;
  readonly hasStore: boolean;
  /** Its loads share the `maxConcurrentLoads` of the group. */
  readonly isInLine: boolean;
  /** How many instances have it; `undefined`: not known. */
  readonly instances: number | undefined;
}

export function factsOf(member: AdvisedMember, fleet: Fleet | undefined): Facts {
  const { kind, name, namespace, lock, store } = member.public;
  const { options } = member.engine;
  const { state = 'empty', maxStaleness } = member.status(false) as {
    readonly state?: string;
    readonly maxStaleness?: number;
  };
  const reported = fleet?.members.find((one) => one.name === name && one.namespace === namespace);
  return {
    kind,
    name,
    options,
    periodMs: Number.isFinite(options.periodMs) ? options.periodMs : NaN,
    statedMaxStalenessMs: state === 'empty' ? undefined : maxStaleness,
    hasLock: lock !== undefined,
    hasStore: store !== undefined,
    isInLine: options.loadLimit !== undefined,
    instances: reported?.of,
  };
}

import type { EngineOptions } from '../engine/engine-options.ts';

/** A member, as far as advice looks at it. */
export interface AdvisedMember {
  readonly public: {
    readonly kind: 'value' | 'cache' | 'executor';
    readonly name: string;
  };
  readonly engine: { readonly options: EngineOptions };
  status(hasValues: boolean): unknown;
}

/** All that a rule knows of a member. Durations are in milliseconds. */
export interface Facts {
  readonly kind: AdvisedMember['public']['kind'];
  readonly name: string;
  readonly options: Pick<EngineOptions, 'maxStalenessMs' | 'whenTooStale' | 'timeoutMs' | 'freshness'>;
  /** The schedule, where it is a finite duration; else NaN, of which no comparison holds. */
  readonly periodMs: number;
  /** The limit for the age of the value in place: its load may have stated one. `undefined`: it is not loaded, or a cache. */
  readonly statedMaxStalenessMs: number | undefined;
  /** Its loads share the `maxConcurrentLoads` of the group. */
  readonly isInLine: boolean;
}

export function factsOf(member: AdvisedMember): Facts {
  const { kind, name } = member.public;
  const { options } = member.engine;
  const { state = 'empty', maxStaleness } = member.status(false) as {
    readonly state?: string;
    readonly maxStaleness?: number;
  };
  return {
    kind,
    name,
    options,
    periodMs: Number.isFinite(options.periodMs) ? options.periodMs : NaN,
    statedMaxStalenessMs: state === 'empty' ? undefined : maxStaleness,
    isInLine: options.loadLimit !== undefined,
  };
}

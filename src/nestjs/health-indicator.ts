import type { HealthProblem, RefreshGroup } from '../index.ts';

/** A problem as a probe may show it: without its message, which may contain addresses of sources. */
type ShownProblem = Pick<HealthProblem, 'name' | 'key' | 'kind' | 'isFatal'>;

/** The result of an indicator of `@nestjs/terminus`, under the key that was given. */
export type IndicatorResult<Key extends string> = Record<
  Key,
  { status: 'up' | 'down'; problems: ShownProblem[] }
>;

/**
 * A health indicator for `@nestjs/terminus`: `health.check([() => indicator.isHealthy()])`. `TicklessModule` provides it.
 */
export class TicklessHealthIndicator {
  readonly #group: RefreshGroup;

  constructor(group: RefreshGroup) {
    this.#group = group;
  }

  /**
   * `down` while reads fail, and will go on failing: for a readiness probe. Reloads that fail while an old value is served are
   * reported, and leave it `up`. It starts what is due, so that a probe keeps the data fresh without traffic; not with
   * `{ start: false }`. Don't use it for a liveness probe: a restart does not help the sources.
   *
   * @param key the name in the result. @default 'tickless'
   * @throws {TicklessError} `OPTION` for an unknown option.
   */
  isHealthy<const Key extends string = 'tickless'>(
    key: Key = 'tickless' as Key,
    options?: Parameters<RefreshGroup['health']>[0],
  ): IndicatorResult<Key> {
    const { ok, problems } = this.#group.health(options);
    const shown = problems.map(({ name, key: ofCache, kind, isFatal }) => ({
      name,
      ...(ofCache === undefined ? {} : { key: ofCache }),
      kind,
      isFatal,
    }));
    const result = { status: ok ? ('up' as const) : ('down' as const), problems: shown };
    return { [key]: result } as IndicatorResult<Key>;
  }
}

import type { Random } from '../random.ts';
import type { Faults } from '../scenario.ts';

/** The parameters of a world of deployments. All times in milliseconds. */
export interface DeployedScenario extends Faults {
  readonly instances: number;
  readonly hasInitial: boolean;
  /** The share of loads that return `keep()`. */
  readonly keeps: number;
  readonly timeout: number;
  readonly coolDown: { readonly initial: number; readonly factor: number; readonly max: number };
  readonly lasts: number;
  readonly readsEvery: number;
  /** From one replacement of an instance by the next version to another. */
  readonly replacesEvery: number;
  /** `Infinity`: none. */
  readonly propagateWithin: number;
  /** The instances are of different versions of the library. */
  readonly isUpgraded: boolean;
  /** At times the backend answers as late as it may, or a little later. */
  readonly isCrowded: boolean;
  /** From one order of an operator to another. */
  readonly ordersEvery: number;
}

export function drawDeployedScenario(random: Random): DeployedScenario {
  const initial = random.pick([100, 500]);
  return {
    instances: random.whole(2, 4),
    hasInitial: random.chance(0.6),
    keeps: random.pick([0, 0.3, 0.7]),
    leaseFor: random.pick([600, 2000]),
    period: random.pick([500, 2000]),
    timeout: random.pick([1000, 4000]),
    coolDown: { initial, factor: 2, max: initial * 4 },
    lasts: random.pick([6000, 12_000]),
    readsEvery: random.pick([40, 150]),
    replacesEvery: random.pick([300, 1000, 3000]),
    misfortuneEvery: random.pick([1000, 3000, Number.POSITIVE_INFINITY]),
    propagateWithin: random.pick([200, 1000, Number.POSITIVE_INFINITY]),
    isUpgraded: random.chance(0.5),
    isCrowded: random.chance(0.5),
    ordersEvery: random.pick([1500, 5000, Number.POSITIVE_INFINITY]),
  };
}

/** Whole percents tell shares below this apart. */
const NEARLY_ALL = 0.985;

/** A share in percent, for people: `97 %`. Near 100 % with up to three decimals, rounded down: a target that is missed never looks met. */
export function showShare(share: number): string {
  return share < NEARLY_ALL
    ? `${Math.round(100 * share)} %`
    : `${Math.floor(share * 100_000 + 1e-6) / 1000} %`;
}

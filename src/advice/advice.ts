import { type AdvisedMember, factsOf } from './facts.ts';
import { type AdviceKind, RULES, type ShowDuration } from './rules.ts';

/** A combination of options that works, and will hurt one day. */
export interface Advice {
  /** The `name` of the member. */
  readonly name: string;
  /**
   * - `staleness-near-schedule`: `maxStaleness` leaves less than a quarter of the schedule for a reload that fails;
   * - `freshness-below-schedule`: the objective `freshness.within` is shorter than the schedule;
   * - `revocation-list-served`: by its name a list of what is revoked, and it is served without a limit for its age;
   * - `no-deadline-in-line`: `timeout: Infinity` in a group with `maxConcurrentLoads`.
   */
  readonly kind: AdviceKind;
  /** The harm and the line to write, for people. */
  readonly message: string;
}

/** Member by member, in the order in which they were made. */
export function adviceFor(members: readonly AdvisedMember[], show: ShowDuration): readonly Advice[] {
  return members.flatMap((member) => {
    const facts = factsOf(member);
    const found = RULES.filter((rule) => rule.applies(facts));
    return found.map((rule) => ({ name: facts.name, kind: rule.kind, message: rule.text(facts, show) }));
  });
}

/** More would not fit into a log line. */
const MOST_SHOWN = 3;

/** One line for a log; `undefined`: there is nothing to say. */
export function adviceLine(advice: readonly Advice[]): string | undefined {
  if (advice.length === 0) return undefined;
  const shown = advice.slice(0, MOST_SHOWN).map(({ name, message }) => `${name}: ${message}`);
  const left = advice.length - shown.length;
  return `advice: ${shown.join(' | ')}${left > 0 ? ` | ${left} more by group.advice()` : ''}`;
}

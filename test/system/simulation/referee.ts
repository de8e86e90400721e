/** One of the design's 18 rules, or another promise of the documentation. */
export type Rule = number | 'group' | 'tasks' | 'rest' | 'retry' | 'timeout' | 'results' | 'starts';

/** A rule that did not hold. */
export interface Violation {
  readonly rule: Rule;
  readonly message: string;
}

/** Notes the first rule that does not hold. It never throws: it is asked from within the code that it judges. */
export class Referee {
  violation: Violation | undefined;

  /** The rule says that this is so. */
  holds(rule: Rule, condition: boolean, message: () => string): void {
    if (!condition) this.violation ??= { rule, message: message() };
  }
}

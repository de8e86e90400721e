/** One of the design's rules, or another promise of the documentation. */
export type Rule =
  | number
  | 'group'
  | 'tasks'
  | 'rest'
  | 'retry'
  | 'timeout'
  | 'results'
  | 'starts'
  | 'changed'
  | 'refused'
  | 'everywhere'
  | 'signals'
  | 'upgrade'
  | 'swaps';

/** A violated rule. */
export interface Violation {
  readonly rule: Rule;
  readonly message: string;
}

/** Records the first violated rule. It never throws, because it is called from within the code that it judges. */
export class Referee {
  violation: Violation | undefined;

  /** Asserts a condition of the rule. */
  holds(rule: Rule, condition: boolean, message: () => string): void {
    if (!condition) this.violation ??= { rule, message: message() };
  }
}

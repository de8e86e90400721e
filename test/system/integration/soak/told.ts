import type { Sample } from '../../soak/samples.ts';
import type { Check } from '../../soak/verdict.ts';

/** What the process that soaks tells, as lines of JSON. */
export type Told =
  | { readonly kind: 'begun' }
  | { readonly kind: 'sample'; readonly sample: Sample }
  /** Everything is closed; the servers can be asked whether they see it so too. */
  | { readonly kind: 'closed' }
  /** The last line: nothing is left to do. */
  | { readonly kind: 'over'; readonly checks: readonly Check[]; readonly cpu: number };

/** How long the servers have to be asked. */
export const LOOK_FOR_MS = 2000;

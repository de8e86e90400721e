import { Semaphore } from '../time/semaphore.ts';
import { MAX_CONCURRENT_STEPS } from './backend-access.ts';

/**
 * Takes a single step for each request, some of them at a time.
 *
 * @returns the answer or the error of each. Rejects if all have failed: then the backend is at fault.
 */
export async function oneByOne<Q, A>(
  requests: readonly Q[],
  step: (request: Q) => Promise<A>,
): Promise<(A | Error)[]> {
  const steps = new Semaphore(MAX_CONCURRENT_STEPS);
  const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
  const answers = await Promise.all(requests.map((request) => steps.run(() => step(request)).catch(asError)));
  const [first] = answers;
  if (first instanceof Error && answers.every((answer) => answer instanceof Error)) throw first;
  return answers;
}

import type { Records } from '../../records/records.ts';

/** As many as a member sends in one command. */
export const MOST_EDITS = 500;

/** A command of a backend: one request to the object. */
export interface ObjectStep {
  readonly step: 'apply' | 'list' | 'editions';
  readonly args: readonly unknown[];
  /** How long a record is kept after its end. `Infinity`: for ever. In milliseconds. */
  readonly retentionMs: number;
}

/** The result of a step. */
export type Outcome = { readonly answer?: unknown } | { readonly error: StepError };

/** An error as it is sent. */
interface StepError {
  readonly name: string;
  readonly message: string;
}

export function encodeStep({ retentionMs, ...step }: ObjectStep): string {
  return JSON.stringify({ ...step, ...(retentionMs !== Infinity && { retentionMs }) });
}

/** @throws for a text that is not JSON. */
export function decodeStep(text: string): ObjectStep {
  return { retentionMs: Infinity, ...JSON.parse(text) };
}

/** Takes a step. An edit alone that has failed has its error as its answer. */
export async function answerOf(records: Records, { step, args }: ObjectStep): Promise<unknown> {
  const call = Object.hasOwn(CALLS, step) ? CALLS[step] : undefined;
  if (call === undefined) throw new Error(`TicklessObject of this Worker has no step ${step}: ${ADVICE}`);
  return call(records, args);
}

const ADVICE = 'deploy the Worker that exports the class with the same version of tickless';

const CALLS: Readonly<Record<string, (records: Records, args: readonly unknown[]) => Promise<unknown>>> = {
  apply: async (records, [edits]) => {
    const { now, answers } = await records.apply(edits as Parameters<Records['apply']>[0]);
    return { now, answers: answers.map(outcomeOf) };
  },
  list: (records, args) => records.list(...(args as Parameters<Records['list']>)),
  editions: (records, args) => records.editions(...(args as Parameters<Records['editions']>)),
};

export function outcomeOf(result: unknown): Outcome {
  if (!(result instanceof Error)) return { answer: result };
  const { name, message } = result;
  return { error: { name, message } };
}

/** @returns the answer, or the error as it was thrown at the object. */
export function resultOf<A>(outcome: Outcome): A | Error {
  if (!('error' in outcome)) return outcome.answer as A;
  const { name, message } = outcome.error;
  return Object.assign(new Error(message), { name });
}

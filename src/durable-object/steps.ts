/** The settings of a lock or a store. */
export interface ObjectSettings {
  /** `Infinity`: for ever. In milliseconds. */
  readonly retentionMs: number;
  readonly keepVersions: number;
}

/** A step of a lock or a store: one request to the object. */
export interface ObjectStep {
  readonly about: 'lock' | 'store';
  /** A method of the backend. */
  readonly step: string;
  readonly args: readonly unknown[];
  readonly settings: ObjectSettings;
}

/** The result of a step, or of one of its names. */
export type Outcome = { readonly answer?: unknown } | { readonly error: StepError };

/** An error as it is sent. */
interface StepError {
  readonly name: string;
  readonly message: string;
}

export function encodeStep({ settings, ...step }: ObjectStep): string {
  const { retentionMs, keepVersions } = settings;
  return JSON.stringify({ ...step, keepVersions, ...(retentionMs !== Infinity && { retentionMs }) });
}

/** @throws for a text that is not JSON. */
export function decodeStep(text: string): ObjectStep {
  const { about, step, args, keepVersions, retentionMs = Infinity } = JSON.parse(text);
  // JSON has null for each argument that is left out. No step takes null.
  const given = (args as unknown[]).map((arg) => arg ?? undefined);
  return { about, step, args: given, settings: { retentionMs, keepVersions } };
}

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

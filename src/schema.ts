import { firstFew } from './printable.ts';

/** A validator of values: https://standardschema.dev. zod, valibot, arktype and others implement it. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    validate(value: unknown): StandardResult<Output> | PromiseLike<StandardResult<Output>>;
  };
}

/** Result of a {@link StandardSchema}: the parsed value, or the issues found. */
export type StandardResult<Output = unknown> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/** It has the method of a {@link StandardSchema}. */
export function isSchema(thing: unknown): thing is StandardSchema {
  const standard = (thing as Partial<StandardSchema> | null | undefined)?.['~standard'];
  return typeof standard?.validate === 'function';
}

export const SCHEMA_RULE = 'must be a Standard Schema';

/** A schema may report an issue for each of a million elements. */
const MAX_ISSUES = 8;

/** The reason why a schema refuses a value. */
export function schemaRefusal(issues: readonly { readonly message: string }[]): string {
  return `the schema refuses it: ${firstFew(issues, MAX_ISSUES, ({ message }) => message, '; ')}`;
}

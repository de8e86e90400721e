import type { StandardSchema } from '../../src/schema.ts';

/** A schema for texts of at most 5 characters, which it puts into capitals. */
export function shortTexts(): StandardSchema<string> {
  return {
    '~standard': {
      version: 1,
      validate: (text) =>
        typeof text === 'string' && text.length <= 5
          ? { value: text.toUpperCase() }
          : { issues: [{ message: 'over 5 characters' }] },
    },
  };
}

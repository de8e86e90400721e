import type { Part } from '../../src/records/names.ts';

// The text of a cell, as tests look at it and edit it.

type Fields = Readonly<Record<string, unknown>>;

/** A part of a text. */
export function partIn(text: string | undefined, part: Part): Fields {
  return (JSON.parse(text ?? '{}') as Partial<Record<Part, Fields>>)[part] ?? {};
}

/** A text with other fields in a part of it; without a text before it has that part alone. */
export function withFields(text: string | undefined, part: Part, fields: Fields): string {
  const parts = JSON.parse(text ?? '{}') as Partial<Record<Part, Fields>>;
  return JSON.stringify({ ...parts, [part]: { ...parts[part], ...fields } });
}

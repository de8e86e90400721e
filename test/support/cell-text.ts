import type { Part } from '../../src/records/names.ts';

// The text of a cell, as tests look at it and edit it.

type Fields = Record<string, unknown>;

/** A part of a text. */
export function partIn(text: string | undefined, part: Part): Fields {
  return (JSON.parse(text ?? '{}') as Partial<Record<Part, Fields>>)[part] ?? {};
}

/** A text with other fields in a part of it; without a text before it has that part alone. */
export function withFields(text: string | undefined, part: Part, fields: object): string {
  const parts = JSON.parse(text ?? '{}') as Partial<Record<Part, Fields>>;
  return JSON.stringify({ ...parts, [part]: { ...parts[part], ...fields } });
}

/** The change of fields of a part. */
export type FieldsChange = (fields: Fields) => object;

/** A text in which a part of it is changed. */
export function changedText(text: string, part: Part, change: FieldsChange): string {
  return withFields(text, part, change(partIn(text, part)));
}

/** The names of fields that tell the rows of a list apart, the surest first. */
const NAMES = ['id', 'code', 'key', 'name'];

/**
 * The field that tells the rows of lists apart, `id`, `code`, `key` or `name` in any case: all rows are objects that have it, as a text or
 * a number, and no two rows of a list have the same. `undefined`: none can be seen.
 */
export function keyFieldOf(...lists: readonly (readonly unknown[])[]): string | undefined {
  const [row] = lists.find(({ length }) => length > 0) ?? [];
  return keyFieldsOf(row).find((field) => lists.every((list) => isKeyOf(field, list)));
}

/** Those of a row that have one of the names. */
export function keyFieldsOf(row: unknown): readonly string[] {
  if (typeof row !== 'object' || row === null) return [];
  const fields = Object.keys(row);
  return NAMES.flatMap((name) => fields.filter((field) => field.toLowerCase() === name));
}

/** Whether a field tells the rows of a list apart, also from those that were seen before. Never throws. */
export function isKeyOf(field: string, rows: readonly unknown[], seen: Set<unknown> = new Set()): boolean {
  try {
    for (const row of rows) {
      if (typeof row !== 'object' || row === null || !Object.hasOwn(row, field)) return false;
      const id = (row as Record<string, unknown>)[field];
      if ((typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint') || seen.has(id))
        return false;
      seen.add(id);
    }
    return true;
  } catch {
    return false; // a getter threw
  }
}

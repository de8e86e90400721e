import { showDuration } from '../time/show-duration.ts';
import type { SourceMeta } from './source.ts';

/**
 * Why an edition may not replace the value in place; `undefined`: it is not older. Where the value in place does not say when it was
 * made, that was before it was loaded.
 *
 * @param placed the value in place, with the notes of its source.
 */
export function olderEdition(
  candidate: SourceMeta | undefined,
  placed: { readonly loadedAt: number; readonly meta?: SourceMeta | undefined },
): string | undefined {
  const { loadedAt, meta } = placed;
  const editedAt = instantOf(candidate);
  if (editedAt === undefined)
    return 'it does not say when its edition was made, which may be before the one in place';
  const ms = (instantOf(meta) ?? loadedAt) - editedAt;
  return ms > 0 ? `its edition is ${showDuration(ms)} older than the one in place` : undefined;
}

function instantOf(meta: SourceMeta | undefined): number | undefined {
  const editedAt: unknown = meta?.editedAt;
  return Number.isFinite(editedAt) ? (editedAt as number) : undefined;
}

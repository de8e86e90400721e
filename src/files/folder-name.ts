import { createHash } from 'node:crypto';

/** So that no file system finds it too long, which is at 255 bytes. */
const LONGEST = 180;

const KEPT = 80;

/**
 * A name of any text as the name of a folder, never the same for two: on file systems that take `a` for `A`, or one
 * form of `é` for the other, and where `con` or a dot at the end are not allowed. What is not a small letter, a digit,
 * `-` or `_` becomes the bytes of its UTF-8: `%41`. A name too long for that ends in its SHA-256 instead.
 */
export function folderName(prefix: string, name: string): string {
  const folder = prefix + escaped(name);
  if (folder.length <= LONGEST) return folder;
  const hash = createHash('sha256').update(name).digest('hex');
  return `${folder.slice(0, prefix.length + KEPT)}~${hash}`;
}

/** The name again; `undefined`: the folder does not tell it, because it is too long. `null`: it is none of ours. */
export function nameOfFolder(prefix: string, folder: string): string | undefined | null {
  if (!folder.startsWith(prefix)) return null;
  const rest = folder.slice(prefix.length);
  if (rest.includes('~')) return undefined;
  try {
    const name = decodeURIComponent(rest);
    return escaped(name) === rest ? name : null;
  } catch {
    return null;
  }
}

function escaped(name: string): string {
  return Array.from(new TextEncoder().encode(name), (byte) => {
    const character = String.fromCharCode(byte);
    return /[a-z0-9_-]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`;
  }).join('');
}

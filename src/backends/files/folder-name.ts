import { createHash } from 'node:crypto';

/** In characters; file systems allow 255 bytes. */
const MAX_LENGTH = 180;

/** Characters of a longer name that stay readable before its hash. */
const READABLE_LENGTH = 80;

/**
 * Converts any name to the name of a folder. Different names give different folders, also on file systems that ignore
 * case or the normal form of Unicode, and the result avoids `con` and a final dot, which Windows forbids. Every
 * character except lower-case letters, digits, `-` and `_` becomes its UTF-8 bytes: `%41`. A name that is too long ends
 * in its SHA-256.
 */
export function folderName(prefix: string, name: string): string {
  const folder = prefix + escaped(name);
  if (folder.length <= MAX_LENGTH) return folder;
  const hash = createHash('sha256').update(name).digest('hex');
  return `${folder.slice(0, prefix.length + READABLE_LENGTH)}~${hash}`;
}

/** The name of a folder; `undefined`: not recoverable, since it was too long. `null`: not made by `folderName`. */
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

/** Whether a folder may be that of a name that begins with a text: one that was too long is not known to its end. */
export function mayBeginWith(prefix: string, folder: string, beginning: string): boolean {
  const [known = '', hash] = folder.slice(prefix.length).split('~');
  const wanted = escaped(beginning);
  return known.startsWith(wanted) || (hash !== undefined && wanted.startsWith(known));
}

function escaped(name: string): string {
  return Array.from(new TextEncoder().encode(name), (byte) => {
    const character = String.fromCharCode(byte);
    return /[a-z0-9_-]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`;
  }).join('');
}

import { readFile, writeFile } from 'node:fs/promises';

/**
 * Puts a text between the lines `<!-- <mark>: … -->` and `<!-- end of <mark> -->` of a document, in the place of what is
 * there.
 */
export async function putBetweenMarks(file, mark, text) {
  const before = await readFile(file, 'utf8');
  const marks = new RegExp(`(<!-- ${mark}: .* -->\n)[\\s\\S]*(<!-- end of ${mark} -->)`);
  if (!marks.test(before)) throw new Error(`${file} has no marks for the ${mark}`);
  await writeFile(
    file,
    before.replace(marks, (_, begin, end) => `${begin}\n${text.trim()}\n\n${end}`),
  );
}

const LAST_CODE_POINT = 0x10_ffff;
/** The code points of halves of surrogate pairs, of which no text consists. */
const [FIRST_HALF, AFTER_HALVES] = [0xd800, 0xe000];

/** The first text that follows all that begin with another one, in the order of code points. @param prefix not only of the last one */
export function endOf(prefix: string): string {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const next = (points.pop() as number) + 1;
  return String.fromCodePoint(...points, next === FIRST_HALF ? AFTER_HALVES : next);
}

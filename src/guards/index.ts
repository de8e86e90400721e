// Ready-made guards, for the option `accept`.

export { type ChangeOptions, changesAtMost } from './changes-at-most.ts';
export { every } from './every.ts';
export { notEmpty } from './not-empty.ts';
export type { SizeOptions } from './sizes.ts';
export { growsAtMost, shrinksAtMost } from './sizes.ts';

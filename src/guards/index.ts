// Ready-made guards, for the option `accept`.

export { type ChangeOptions, changesAtMost } from './changes-at-most.ts';
export { every } from './every.ts';
export type { SizeOptions } from './sizes.ts';
export { growsAtMost, notEmpty, shrinksAtMost } from './sizes.ts';

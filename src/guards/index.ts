// Ready-made guards, for the option `accept`.

export { type ChangeOptions, changesAtMost, every } from './changes-at-most.ts';
export type { SizeOptions } from './sizes.ts';
export { growsAtMost, notEmpty, shrinksAtMost } from './sizes.ts';

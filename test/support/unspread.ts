/** The option `random` of a cache whose keys fall due when the schedule says, where that is a duration. */
export const unspread = (): number => 1 - 2 ** -53;

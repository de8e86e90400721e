/**
 * A mark of a person on a name, for all instances. `invalidated`: its value is out of date, and served until the next load has
 * ended; `dropped`: it is not served any longer.
 */
export type Mark = 'invalidated' | 'dropped';

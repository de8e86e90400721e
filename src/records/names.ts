/**
 * The beginnings of the names of records, by what they are. A layout of records that builds before can't live with takes others, so
 * that these see none of it.
 */
export const LOCK = 'lock/';
export const SNAPSHOT = 'snapshot/';
/** Reports are few, small, and looked at together: a backend that lists by partition keeps them in one. */
export const REPORT = 'report/';

// The class of Durable Objects behind `durableObjectLock` and `durableObjectStore`, for the Worker that exports it.

export type { ObjectSql, ObjectState, ObjectStorage } from '../durable-object/object-state.ts';
export { TicklessObject } from './tickless-object.ts';

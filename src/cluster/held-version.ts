import type { Pin } from './pin.ts';

/**
 * The version of the value in place, as this instance knows it. It is always one of these:
 *
 *  - `published`: other instances can find the value under that version; 0: it has none, or there is no value.
 *  - `publishing`: the store does not have it yet. It has that version, or gets a later one.
 *  - `local`: it is in no order with the versions of others. The version is the last one that was in place before.
 *
 * The pin is that of the version, also one that is over.
 */
export interface HeldVersion {
  readonly as: 'published' | 'publishing' | 'local';
  readonly version: number;
  readonly pin: Pin | undefined;
}

/** Changes of it. */
export type VersionEvent =
  /** A value without a version takes its place. */
  | { readonly on: 'set' }
  /** The result of a load takes its place. `token`: of its lease; `undefined`: it has none. */
  | { readonly on: 'loaded'; readonly token: number | undefined; readonly isShared: boolean }
  /** The store has that version; values that are published from now on have a later one. */
  | { readonly on: 'found'; readonly version: number }
  /** An earlier version was adopted, and is to be published anew. */
  | { readonly on: 'put back' }
  /** A snapshot takes its place. */
  | { readonly on: 'adopted'; readonly version: number; readonly pin: Pin | undefined }
  /** The store has a value of this instance. `isInPlace`: it is the one in place. */
  | {
      readonly on: 'written';
      readonly version: number;
      readonly pin: Pin | undefined;
      readonly isInPlace: boolean;
    }
  /** The value in place is that of a version which the store has. */
  | { readonly on: 'confirmed'; readonly version: number }
  /** The store has a newer version than the one that was to be written. */
  | { readonly on: 'refused' }
  /** It is not in place any longer, or could not be published: it may be adopted again. */
  | { readonly on: 'given up'; readonly isInPlace: boolean }
  /** Its pin is over. */
  | { readonly on: 'unpinned' }
  /** The clock of the backend was set back: the versions to come are lower. */
  | { readonly on: 'clock set back' };

/** Before the first value. */
export const NO_VERSION: HeldVersion = { as: 'published', version: 0, pin: undefined };

/** The version under which other instances can find the value in place; 0: none. */
export function sharedVersion({ as, version }: HeldVersion): number {
  return as === 'published' ? version : 0;
}

/** The version after an event. Pure. */
export function versionAfter(held: HeldVersion, event: VersionEvent): HeldVersion {
  const { as, version, pin } = held;
  const isPublished = as === 'published';
  switch (event.on) {
    case 'set':
      return { ...held, as: 'local' };
    case 'loaded': {
      if (event.token === undefined) return { ...held, as: 'local' };
      const newer = Math.max(version, event.token);
      return { as: event.isShared ? 'publishing' : 'published', version: newer, pin };
    }
    case 'found':
      return { ...held, version: Math.max(version, event.version) };
    case 'put back':
      return { ...held, as: 'publishing' };
    case 'adopted':
      return { as: 'published', version: Math.max(version, event.version), pin: event.pin };
    case 'written': {
      // Where another version is in place, a check finds this one.
      const isNewer = event.version > version && (!isPublished || event.isInPlace);
      const newest = isNewer ? { version: event.version, pin: event.pin } : { version, pin };
      return { as: event.isInPlace ? 'published' : as, ...newest };
    }
    case 'confirmed':
      return isPublished && version >= event.version
        ? held
        : { as: 'published', version: event.version, pin: undefined };
    case 'refused':
      return isPublished ? { ...held, as: 'publishing' } : held;
    case 'given up':
      return { as: event.isInPlace ? 'published' : as, version: 0, pin: undefined };
    case 'unpinned':
      return { as, version, pin: undefined };
    case 'clock set back':
      return { as: 'local', version: 0, pin };
  }
}

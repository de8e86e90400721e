/** How many instances there are. */
export const INSTANCES = 4;

/** What is locked and stored: the name of the postal codes. */
export const NAME = 'postal-codes';

// In production these would be minutes; but for the lease, which is to be longer than the longest pause of a process.

/** From the end of a load to the next round, in milliseconds. */
export const PERIOD_MS = 1500;
/** Within what time all instances serve what one of them has loaded or put back, in milliseconds. */
export const PROPAGATE_WITHIN_MS = 500;
/** The greatest share of the codes that an edition may lack of those before it. */
export const MAY_SHRINK_BY = 0.3;
/** How long a lease lasts that nobody extends, in milliseconds, on a quiet machine: so long nothing is loaded after a crash. */
export const LEASE_MS = 2000;
/** How long the source takes to answer, in milliseconds. Beyond a third of the lease, so that it is extended. */
export const LOAD_MS = 800;

/** Connections of the traffic to each instance. */
export const CONNECTIONS = 2;

/** When the next instance that loads is killed, as a fraction of the run. */
export const KILL_AT = 0.1;
/** How far it is with its load then, in milliseconds. */
export const KILL_AFTER_MS: number = LOAD_MS / 2;
/** How long it is gone, in milliseconds. */
export const GONE_FOR_MS = 3000;

/** How often the half edition is loaded, and refused, before the origin has another one. */
export const REFUSALS = 2;
/** How long the edition that is put back stays pinned, in milliseconds: in that time a round would be due. */
export const PINNED_FOR_MS: number = 2 * PERIOD_MS;

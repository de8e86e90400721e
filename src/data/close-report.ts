/** A load or a run of a task. */
export interface CutOff {
  /** The `name` of the member; of a locked task the name of its lock. */
  readonly name: string;
  /** Of a cache. */
  readonly key?: unknown;
}

/** A lease that may still be held at its backend: others wait until it has expired. */
export interface LeaseLeft extends CutOff {
  /** Its fencing token. */
  readonly token: number;
}

/** How a `close()` has ended. */
export interface CloseReport {
  /** All that was under way has ended by itself, and all leases are released: nothing was cut off. */
  readonly drained: boolean;
  /** The loads that were aborted when the time was over, in the order in which it began. */
  readonly aborted: readonly CutOff[];
  /** The leases that could not be released in time. Their holders expire at the backend, or are released there a moment later. */
  readonly leases: readonly LeaseLeft[];
}

/** The reports as one, in their order. */
export function closeReport(...parts: readonly Pick<CloseReport, 'aborted' | 'leases'>[]): CloseReport {
  const aborted = parts.flatMap((part) => part.aborted);
  const leases = parts.flatMap((part) => part.leases);
  return { drained: aborted.length === 0 && leases.length === 0, aborted, leases };
}

export function cutOff(name: string, key: unknown): CutOff {
  return {
    name,
    ...(key === undefined ? {} : { key }),
  };
}

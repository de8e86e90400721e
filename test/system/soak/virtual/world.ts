import { ManualCluster } from '../../../support/cluster.ts';
import { Random } from '../../simulation/random.ts';
import { Census } from '../census.ts';

/** What is counted. */
export interface Tally {
  reads: number;
  rejected: number;
  loads: number;
  'failed loads': number;
  events: number;
  'engine faults': number;
  stops: number;
  closes: number;
}

/** What all services of the soak share: time, chance, the engines of the cluster, and who counts. */
export class World {
  readonly cluster: ManualCluster = new ManualCluster();
  readonly census: Census = new Census();
  readonly dice: Random;
  readonly tally: Tally = {
    reads: 0,
    rejected: 0,
    loads: 0,
    'failed loads': 0,
    events: 0,
    'engine faults': 0,
    stops: 0,
    closes: 0,
  };
  /** Of a caller who lives as long as the process, and gives it to read after read. */
  readonly longLived: AbortController = new AbortController();
  /** The source of all fails nine times out of ten. */
  isSourceDown: boolean = false;

  constructor(seed: number) {
    this.dice = new Random(seed);
  }

  get clock(): ManualCluster['clock'] {
    return this.cluster.clock;
  }

  /** A promise that resolves after that time. */
  after(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimeout(resolve, ms));
  }

  /** Lets go of a promise, as careless callers do, but counts. */
  drop(promise: Promise<unknown>): void {
    promise.then(undefined, () => {
      this.tally.rejected += 1;
    });
  }

  /** Reads without a promise. */
  attempt(read: () => unknown): void {
    try {
      read();
    } catch {
      this.tally.rejected += 1;
    }
  }
}

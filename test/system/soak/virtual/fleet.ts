import type { Step } from '../../../support/cluster.ts';
import { Service } from './service.ts';
import { Traffic } from './traffic.ts';
import type { World } from './world.ts';

/** The instances that live through the whole soak; leaks of theirs show in the heap. */
const LASTING = 2;
/** The instances that are replaced; leaks of theirs show in the counts. */
const PASSING = 2;
const STEPS: readonly Step[] = ['acquire', 'extend', 'release', 'read', 'write'];
/** Longer than a lease, which is lost then. */
const LONGEST_STOP_MS = 8000;
const HOUR_MS = 3_600_000;
const OUTAGE_EVERY_MS = 20_000;
const OUTAGE_MS = 4000;

interface Instance {
  readonly service: Service;
  readonly traffic: Traffic;
  /** By the clock of the soak. */
  endsAt: number;
  stoppedUntil: number;
}

/** The instances of the service, and their faults. */
export class Fleet {
  readonly #world: World;
  readonly #instances: Instance[];
  readonly #closing: Set<Promise<void>> = new Set();

  constructor(world: World) {
    this.#world = world;
    this.#instances = Array.from({ length: LASTING + PASSING }, (_, number) => this.#start(number));
  }

  #start(number: number): Instance {
    const { dice, clock } = this.#world;
    const service = new Service(this.#world, dice.between(-HOUR_MS, HOUR_MS));
    const lives = number < LASTING ? Number.POSITIVE_INFINITY : dice.between(20_000, 40_000);
    return {
      service,
      traffic: new Traffic(this.#world, service),
      endsAt: clock.monotonic() + lives,
      stoppedUntil: 0,
    };
  }

  /** Runs one step of each instance. */
  step(reads: number): void {
    const { dice, clock } = this.#world;
    if (dice.chance(1 / 20_000)) clock.stepWall(dice.between(-HOUR_MS, HOUR_MS));
    if (dice.chance(1 / 3000)) void this.#releaseByForce();
    const now = clock.monotonic();
    this.#world.isSourceDown = now % OUTAGE_EVERY_MS > OUTAGE_EVERY_MS - OUTAGE_MS;
    for (const [number, instance] of this.#instances.entries()) {
      instance.service.link.take(); // it keeps its messages
      if (now >= instance.endsAt) this.#replace(number, instance);
      else if (instance.stoppedUntil > now) continue;
      else if (instance.stoppedUntil > 0) this.#continue(instance);
      else {
        this.#befall(instance);
        instance.traffic.go(reads);
      }
    }
  }

  /** Replaces an instance. Most old ones are closed; some are only dropped, as tests and careless code do. */
  #replace(number: number, instance: Instance): void {
    this.#continue(instance);
    instance.service.link.mend();
    if (this.#world.dice.chance(1 / 4)) this.#world.tally.closes += 1;
    else this.#close(instance.service);
    this.#instances[number] = this.#start(number);
  }

  #close(service: Service): void {
    const closed = service.close().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  #continue(instance: Instance): void {
    instance.service.clock.continue();
    instance.stoppedUntil = 0;
  }

  #befall(instance: Instance): void {
    const { dice, clock, tally } = this.#world;
    const { link } = instance.service;
    if (dice.chance(1 / 600)) {
      instance.service.clock.stop();
      instance.stoppedUntil = clock.monotonic() + dice.between(100, LONGEST_STOP_MS);
      tally.stops += 1;
    } else if (dice.chance(1 / 60)) {
      link.fault = (step) => this.#faultOf(step);
      clock.setTimeout(() => link.mend(), dice.between(100, 3000));
    }
  }

  #faultOf(step: Step): ReturnType<Service['link']['fault']> {
    const { dice, tally } = this.#world;
    if (!STEPS.includes(step) || dice.chance(1 / 3)) return undefined;
    tally['engine faults'] += 1;
    const fault = dice.weighted({ refused: 3, 'answer-lost': 3, 'no-answer': 1, late: 3 });
    return fault === 'late' ? this.#world.after(dice.between(10, 4000)) : fault;
  }

  /** An operator releases the lease of the holder. */
  async #releaseByForce(): Promise<void> {
    const { lock } = this.#world.cluster;
    const records = await lock.list({});
    const held = records.find(({ state }) => state === 'running');
    if (held !== undefined) await lock.forceRelease(held.name, held.token);
  }

  /** Ends all faults. */
  mend(): void {
    this.#world.isSourceDown = false;
    for (const instance of this.#instances) {
      this.#continue(instance);
      instance.service.link.mend();
    }
  }

  /** All open instances. */
  get services(): readonly Service[] {
    return this.#instances.map(({ service }) => service);
  }

  /** Closes all. Resolves when all have emitted `closed`. */
  async close(): Promise<void> {
    for (const { service } of this.#instances.splice(0)) this.#close(service);
    await Promise.all(this.#closing);
  }
}

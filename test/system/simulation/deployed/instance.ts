import {
  type Derived,
  derive,
  type EventOf,
  type EventType,
  type LoadContext,
  RefreshingValue,
} from '../../../../src/index.ts';
import { wordOf } from '../../../support/events.ts';
import type { Machine } from '../machine.ts';
import { CLIENT_TIMEOUT_MS, Link } from '../network.ts';
import { NO_CHECKS_MS, Process } from '../process.ts';
import { wordsOf } from '../words.ts';
import { Answers } from './answers.ts';
import { dialects } from './dialects.ts';
import type { DeployedWorld } from './world.ts';

/** A value of that world: the number of its load; 0: the initial one. */
export interface Rate {
  readonly serial: number;
}

/** One process of a service with a value and what follows from it. */
export class DeployedInstance extends Process {
  readonly rates: RefreshingValue<Rate>;
  readonly doubled: Derived<number>;
  /** Of the lock. */
  readonly answers: Answers;
  /** Its id in reports. */
  id: string | undefined;
  /** It has been read. */
  isRead: boolean = false;
  running = 0;
  waiting = 0;
  readonly #world: DeployedWorld;
  /** The highest version that was in place. */
  #version = 0;
  /** The value that the last replacement has put into place. */
  #replacedBy: number | undefined;

  constructor(name: string, machine: Machine, world: DeployedWorld) {
    const { scenario, timeline, random, backend } = world;
    const { leaseFor, period, timeout, coolDown, hasInitial, propagateWithin, isUpgraded } = scenario;
    const version = isUpgraded ? random.pick(['older', 'this', 'newer'] as const) : 'this';
    const waitsMs = Math.min(CLIENT_TIMEOUT_MS, timeout / 4);
    const options = { waitsMs, ...(version !== 'this' && { dialect: dialects[version] }) };
    const wire = world.wireOf(name, () => this);
    const link = new Link(machine, backend, timeline, random, wire, leaseFor, options);
    super(name, machine, link, world);
    this.#world = world;
    world.trace.add(name, () => `writes as ${version === 'this' ? 'this' : `the ${version}`} version does`);
    this.answers = new Answers(machine, scenario);
    this.rates = new RefreshingValue<Rate>({
      name: 'rates',
      load: (context) => this.#load(context),
      schedule: period,
      timeout,
      coolDown,
      retry: false,
      clock: machine,
      random: () => random.next(),
      logger: false,
      backend: { lock: link.lock, store: link.store },
      propagateWithin: Math.min(propagateWithin, NO_CHECKS_MS),
      ...(hasInitial && { initial: { value: { serial: 0 }, loadedAt: 0 } }),
    });
    this.doubled = derive(this.rates, ({ serial }) => serial * 2, { logger: false });
    this.rates.on('*', (event) => this.#emitted(event));
  }

  override get isLoading(): boolean {
    return this.running > 0;
  }

  protected override closeAll(timeout: number): Promise<unknown> {
    return this.rates.close({ timeout });
  }

  /** Reads the value, and what follows from it. */
  read(): void {
    const { referee, scenario, random } = this.#world;
    const wasRead = this.isRead;
    this.isRead = true;
    if (scenario.hasInitial && !wasRead) {
      try {
        const { serial } = this.rates.current;
        this.#world.trace.add(this.name, () => `first read: ${serial}`);
      } catch (error) {
        referee.holds(2, false, () => `${this.name}: the first read with an initial value fails: ${error}`);
      }
    }
    const isDerived = random.chance(0.5);
    this.waiting += 1;
    const end = (): void => {
      this.waiting -= 1;
    };
    (isDerived ? this.doubled : this.rates).get().then(end, end);
    if (isDerived) this.#checkDerived();
  }

  #checkDerived(): void {
    const held = this.rates.peek()?.serial;
    if (held === undefined) return;
    const { current } = this.doubled;
    const now = this.rates.peek()?.serial ?? 0; // the read may have replaced it
    this.#world.referee.holds('results', current === now * 2, () => {
      return `${this.name}: derived ${current} of load ${now}`;
    });
  }

  async #load({ previous, token }: LoadContext<Rate>): Promise<Rate> {
    const isLockThere = this.answers.isThere;
    this.#world.referee.holds(29, token !== undefined || !isLockThere, () => {
      return `${this.name}: a load begins without a lease, and the lock has answered in time`;
    });
    this.running += 1;
    try {
      return await this.#world.answer(this, previous?.value);
    } finally {
      this.running -= 1;
    }
  }

  #emitted(event: EventOf<EventType>): void {
    const { trace, referee } = this.#world;
    trace.add(this.name, () => wordsOf(event));
    referee.holds('upgrade', wordOf(event) !== 'refused', () => {
      return `${this.name}: it can't use what another instance has written: ${wordsOf(event)}`;
    });
    if (event.type !== 'changed') return;
    const serial = this.rates.peek()?.serial;
    // An instance that adopts what another one has kept hears of it as of any adopted value.
    const isReplaced = event.cause === 'adopted' || serial === undefined || serial !== this.#replacedBy;
    referee.holds('changed', isReplaced, () => {
      return `${this.name}: a value that was kept, load ${serial}, is emitted as a replacement`;
    });
    this.#replacedBy = serial;
    const { version } = event;
    if (version === undefined) return;
    referee.holds(13, version > this.#version, () => {
      return `${this.name}: version ${version} comes after version ${this.#version}`;
    });
    this.#version = version;
  }
}

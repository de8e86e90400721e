import { keep } from '../../../../src/index.ts';
import type { LockRow } from '../../../support/records-of-steps.ts';
import { Cluster } from '../cluster.ts';
import { type Deed, drawDeed } from '../deed.ts';
import type { Machine } from '../machine.ts';
import { type Message, type Step, wordsOfAnswer, wordsOfEffect, wordsOfMessage } from '../message.ts';
import { type Misfortune, Misfortunes } from '../misfortunes.ts';
import { strangeSwap, WEATHER, type Wire } from '../network.ts';
import { Random } from '../random.ts';
import type { Verdict } from '../verdict.ts';
import { DeployedInstance, type Rate } from './instance.ts';
import { type DeployedScenario, drawDeployedScenario } from './scenario.ts';

/** The random numbers of a world of deployments are not those of the other worlds with its seed. */
const STREAM = 0x64_65_70_6c;
/** All waits have ended after that: leases, deadlines, cool-downs, rests of the backend. */
const LONGEST_MS = 60_000;
const READS_EVERY_MS = 1000;
/** After so long without faults every instance has a value that was loaded or confirmed since. */
const CALM_MS = 8000;
/** How often the fleet is looked at, until all are in it with their versions. */
const LOOKS = 3;
/** Ten rounds. */
const SETTLES_MS = 20_000;
/** What an operator does on all instances. */
const orders: Readonly<
  Record<string, Deed<{ readonly world: DeployedWorld; readonly instance: DeployedInstance }>>
> = {
  set: {
    weight: 2,
    act: ({ world, instance }) =>
      world.order(instance, `set ${world.next()}`, () => instance.rates.set({ serial: world.last })),
  },
  refresh: {
    weight: 2,
    act: ({ world, instance }) => world.order(instance, 'refresh', () => instance.rates.refresh()),
  },
  drop: {
    weight: 1,
    act: ({ world, instance }) =>
      world.order(instance, 'drop', () => instance.rates.invalidate({ drop: true })),
  },
};

const own: Readonly<Record<string, Misfortune<DeployedWorld>>> = {
  /** What another instance has written can be used always. Other worlds have damaged snapshots. */
  damage: { weight: 0, act: () => {} },
  crowd: {
    weight: 6,
    act: ({ world: { trace, instances, scenario } }) => {
      if (!scenario.isCrowded) return;
      trace.add('world', () => 'the backend is crowded from now on');
      for (const instance of instances) instance.link.weather = WEATHER.crowded;
    },
  },
};

/**
 * A cluster whose instances are replaced all the time, as by deployments, now and then by those of another version. It
 * shares nothing with the other worlds of its seed.
 */
export class DeployedWorld extends Cluster<DeployedInstance> {
  readonly scenario: DeployedScenario;
  readonly source: { revision: number } = { revision: 0 };
  readonly #misfortunes: Misfortunes<DeployedWorld>;
  #loads = 0;
  #isOver = false;
  /** The source has no further values. */
  #isSettled = false;

  constructor(seed: number, isTraced: boolean = false) {
    const random = new Random(seed ^ STREAM);
    const scenario = drawDeployedScenario(random);
    super({ seed, random, isTraced, longestBackoff: scenario.coolDown.max });
    this.scenario = scenario;
    this.#misfortunes = new Misfortunes<DeployedWorld>(this, own);
    this.startAll();
  }

  protected override make(name: string, machine: Machine): DeployedInstance {
    return new DeployedInstance(name, machine, this);
  }

  /** Runs all events, repairs the faults, and checks that all is well then. */
  async run(): Promise<Verdict> {
    const { instances, lasts, readsEvery, replacesEvery, ordersEvery } = this.scenario;
    const isOver = (): boolean => this.#isOver;
    for (let index = 0; index < instances; index++) {
      this.nowAndThen(index, readsEvery, isOver, (instance) => instance.read());
      this.nowAndThen(index, replacesEvery * instances, isOver, (instance) => this.#replace(index, instance));
      if (ordersEvery === Number.POSITIVE_INFINITY) continue;
      this.nowAndThen(index, ordersEvery * instances, isOver, (instance) => {
        if (instance.isRead) drawDeed(orders, this.random).act({ world: this, instance });
      });
    }
    this.#misfortunes.begin();
    await this.until(() => this.timeline.now >= lasts);
    if (this.referee.violation === undefined) await this.#rest();
    return this.verdict(this.#loads);
  }

  /** The next version starts when the one before it closes. */
  #replace(index: number, instance: DeployedInstance): void {
    this.trace.add(instance.name, () => 'is replaced');
    void instance.close(this.random.pick([0, 300, 3000])).then(() => this.closed.push(instance));
    this.instances[index] = this.start(index);
  }

  order(instance: DeployedInstance, words: string, ask: () => Promise<unknown>): void {
    this.trace.add(instance.name, () => `${words} everywhere`);
    instance.waiting += 1;
    const end = (): void => {
      instance.waiting -= 1;
    };
    ask().then(end, end);
  }

  /** The answer of the source to a load. */
  async answer({ machine, name }: DeployedInstance, previous: Rate | undefined): Promise<Rate> {
    this.#loads += 1;
    const serial = this.next();
    const { random, scenario, trace } = this;
    const keeps = this.#isSettled ? 1 : scenario.keeps;
    const isKept = previous !== undefined && previous.serial > 0 && random.chance(keeps);
    const fails = !this.#isOver && random.chance(0.1);
    trace.add(name, () => `load ${serial}${isKept ? ' keeps' : ''}${fails ? ' fails' : ''}`);
    await new Promise<void>((resolve) => machine.receive(random.between(1, 300), resolve));
    if (fails) throw new Error(`load ${serial} failed`);
    return isKept ? (keep() as unknown as Rate) : { serial };
  }

  /** Its rules are about events, reads and the backend, which are judged when they happen. */
  protected override check(): void {
    for (const { machine, answers } of this.instances) if (!machine.isAwake) answers.failed();
  }

  async #rest(): Promise<void> {
    const { timeline, instances, referee } = this;
    this.#misfortunes.end();
    this.#isOver = true;
    this.mend();
    await this.#readsFor(CALM_MS);
    for (const { name, rates } of this.open) {
      const { age = Number.POSITIVE_INFINITY } = rates.inspect();
      referee.holds(22, age < CALM_MS, () => {
        return `${name}: it is ${age.toFixed(0)} ms old, and all is mended since ${CALM_MS} ms`;
      });
    }
    await this.#readsFor(LONGEST_MS);
    for (const { name, rates } of this.open) {
      const serial = rates.peek()?.serial ?? 0;
      referee.holds('rest', serial > 0, () => `${name}: it has no value of the source`);
    }
    this.#isSettled = true;
    await this.#readsFor(SETTLES_MS);
    if (referee.violation === undefined) await this.#agree();
    const until = timeline.now + LONGEST_MS;
    timeline.plan(LONGEST_MS, () => {});
    await this.until(() => timeline.now >= until);
    for (const { name, machine, waiting, closing } of [...instances, ...this.closed]) {
      if (machine.hasCrashed || closing === 'closing') continue;
      referee.holds(8, machine.timersAhead === 0, () => `${name}: a timer runs without reads`);
      referee.holds(4, waiting === 0, () => `${name}: ${waiting} calls are never answered`);
    }
  }

  /** Every instance is read each second. */
  async #readsFor(ms: number): Promise<void> {
    const { timeline, random } = this;
    const until = timeline.now + ms;
    const again = (): void => {
      if (timeline.now >= until) return;
      for (const instance of this.open) {
        instance.machine.receive(random.between(0, READS_EVERY_MS), () => instance.read());
      }
      timeline.plan(READS_EVERY_MS, again);
    };
    again();
    timeline.plan(ms, () => {});
    await this.until(() => timeline.now >= until);
  }

  /** All instances have one value, and those that check the store are in the fleet with its version. */
  async #agree(): Promise<void> {
    const { referee, scenario, backend } = this;
    const { open } = this;
    const serials = open.map(({ rates }) => rates.peek()?.serial);
    referee.holds('rest', new Set(serials).size <= 1, () => `the instances have the values ${serials}`);
    if (scenario.propagateWithin === Number.POSITIVE_INFINITY) return;
    const unseen = new Set(open);
    // A report that is left while a value is being published names no version; the next one does.
    for (let looks = 0; looks < LOOKS && unseen.size > 0; looks++) {
      await this.#readsFor(2 * READS_EVERY_MS);
      const fleet = await backend.fleet();
      for (const instance of unseen) {
        const member = fleet.instances.find(({ id }) => id === instance.id)?.members[0];
        if (member?.name === 'rates' && (member.version ?? 0) > 0) unseen.delete(instance);
      }
    }
    for (const { name } of unseen)
      referee.holds('upgrade', false, () => `${name}: the fleet does not show its version`);
  }

  /** @param instanceOf the process, once it is made. */
  wireOf(name: string, instanceOf: () => DeployedInstance): Wire {
    return {
      sent: (message) => {
        this.trace.add(name, () => `${wordsOfMessage(message)} →`);
        const instance = instanceOf();
        instance.id ??= message.instance;
        if (isOfLock(message)) instance.answers.sent(message, instance.rates.peek() === undefined);
      },
      failed: (message, how) => {
        this.trace.add(name, () => `${wordsOfMessage(message)} ${how}`);
        if (how === 'is carried out twice') return;
        if (message.step === 'acquire') instanceOf().answers.failed(message);
      },
      arrived: (_message, effect) => this.trace.add('backend', () => `${wordsOfEffect(effect)} of ${name}`),
      dozes: (ms) => this.trace.add(name, () => `stands still for ${ms.toFixed(0)} ms before it sends`),
      strange: (effect) => strangeSwap(this.referee, name, effect),
      answered: (message, answer) => {
        this.trace.add(name, () => `${wordsOfMessage(message)}: ${wordsOfAnswer(answer)}`);
        if (message.step === 'acquire') instanceOf().answers.answered(message, (answer as LockRow).leaseLeft);
      },
    };
  }
}

/** It is about the lock of the value, not about its snapshots. */
function isOfLock({ step }: Message): boolean {
  return STEPS_OF_LOCK.includes(step);
}

const STEPS_OF_LOCK: readonly Step[] = ['acquire', 'extend', 'release', 'impose'];

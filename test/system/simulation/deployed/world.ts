import { keep } from '../../../../src/index.ts';
import { Backend } from '../backend.ts';
import { Cluster } from '../cluster.ts';
import { LeaseBook } from '../lease-book.ts';
import { Machine } from '../machine.ts';
import { type Misfortune, Misfortunes } from '../misfortunes.ts';
import { type Message, WEATHER, type Wire, wordsOfAnswer } from '../network.ts';
import { Random } from '../random.ts';
import { drawClockFault } from '../scenario.ts';
import type { Verdict } from '../verdict.ts';
import { VersionBook } from '../version-book.ts';
import { DeployedInstance, type Rate } from './instance.ts';
import { type DeployedScenario, drawDeployedScenario } from './scenario.ts';

/** The random numbers of a world of deployments are not those of the other worlds with its seed. */
const STREAM = 0x64_65_70_6c;
/** All waits have ended after that: leases, deadlines, cool-downs, rests of the backends. */
const LONGEST_MS = 60_000;
const READS_EVERY_MS = 1000;

const own: Readonly<Record<string, Misfortune<DeployedWorld>>> = {
  storeWeather: {
    weight: 8,
    act: ({ world: { random, trace, instances }, index }) => {
      const weather = random.pick(['sound', 'slow', 'lossy', 'cut'] as const);
      const instance = instances[index];
      if (instance === undefined) return;
      instance.storeLink.weather = WEATHER[weather];
      trace.add(instance.name, () => `its connection to the store is ${weather} from now on`);
    },
  },
  storeForgets: {
    weight: 1,
    act: ({ world: { storeBackend, trace } }) => {
      storeBackend.loseAll();
      trace.add('store', () => 'comes back empty');
    },
  },
};

/**
 * A cluster whose lock and store are at different backends, with different clocks, and whose instances are replaced all
 * the time, as by deployments. It shares nothing with the other worlds of its seed.
 */
export class DeployedWorld extends Cluster<DeployedInstance> {
  readonly scenario: DeployedScenario;
  readonly source: { revision: number } = { revision: 0 };
  /** The backend of the store; `backend` is that of the lock. */
  readonly storeBackend: Backend;
  readonly #misfortunes: Misfortunes<DeployedWorld>;
  #loads = 0;
  #isOver = false;

  constructor(seed: number, isTraced: boolean = false) {
    const random = new Random(seed ^ STREAM);
    const scenario = drawDeployedScenario(random);
    super({ seed, random, isTraced, longestBackoff: scenario.coolDown.max, keepVersions: 1 });
    this.scenario = scenario;
    const machine = new Machine('store', this.timeline, random, drawClockFault(random));
    const leases = new LeaseBook(scenario.coolDown.max, this.referee);
    this.storeBackend = new Backend(machine, leases, new VersionBook(this.referee), 1);
    this.#misfortunes = new Misfortunes<DeployedWorld>(this, own);
    this.startAll();
  }

  protected override make(name: string, machine: Machine): DeployedInstance {
    return new DeployedInstance(name, machine, this);
  }

  /** Runs all events, repairs the faults, and checks that all is well then. */
  async run(): Promise<Verdict> {
    const { instances, lasts, readsEvery, replacesEvery } = this.scenario;
    const isOver = (): boolean => this.#isOver;
    for (let index = 0; index < instances; index++) {
      this.nowAndThen(index, readsEvery, isOver, (instance) => instance.read());
      this.nowAndThen(index, replacesEvery * instances, isOver, (instance) => this.#replace(index, instance));
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

  /** The answer of the source to a load. */
  async answer({ machine, name }: DeployedInstance, previous: Rate | undefined): Promise<Rate> {
    this.#loads += 1;
    const serial = this.#loads;
    const { random, scenario, trace } = this;
    const isKept = previous !== undefined && previous.serial > 0 && random.chance(scenario.keeps);
    const fails = !this.#isOver && random.chance(0.1);
    trace.add(name, () => `load ${serial}${isKept ? ' keeps' : ''}${fails ? ' fails' : ''}`);
    await new Promise<void>((resolve) => machine.receive(random.between(1, 300), resolve));
    if (fails) throw new Error(`load ${serial} failed`);
    return isKept ? (keep() as unknown as Rate) : { serial };
  }

  /** Its rules are about events, reads and the backends, which are judged when they happen. */
  protected override check(): void {}

  async #rest(): Promise<void> {
    const { timeline, backend, storeBackend, instances, random, referee } = this;
    this.#misfortunes.end();
    this.#isOver = true;
    this.trace.add('world', () => 'all is mended');
    backend.isUp = true;
    storeBackend.isUp = true;
    for (const { link, storeLink, machine } of instances) {
      link.weather = WEATHER.sound;
      storeLink.weather = WEATHER.sound;
      machine.goOn();
    }
    const until = timeline.now + LONGEST_MS;
    const again = (): void => {
      if (timeline.now >= until) return;
      for (const instance of instances) {
        if (instance.closing !== 'no') continue;
        instance.machine.receive(random.between(0, READS_EVERY_MS), () => instance.read());
      }
      timeline.plan(READS_EVERY_MS, again);
    };
    again();
    timeline.plan(LONGEST_MS, () => {});
    await this.until(() => timeline.now >= until);
    for (const { name, closing, rates } of instances) {
      if (closing !== 'no') continue;
      const serial = rates.peek()?.serial ?? 0;
      referee.holds('rest', serial > 0, () => `${name}: it has no value of the source`);
    }
    timeline.plan(LONGEST_MS, () => {});
    await this.until(() => timeline.now >= until + LONGEST_MS);
    for (const { name, machine, waiting, closing } of [...instances, ...this.closed]) {
      if (machine.hasCrashed || closing === 'closing') continue;
      referee.holds(8, machine.timersAhead === 0, () => `${name}: a timer runs without reads`);
      referee.holds(4, waiting === 0, () => `${name}: ${waiting} calls are never answered`);
    }
  }

  /** @param at the backend at the other end. */
  wireOf(name: string, at: 'lock' | 'store'): Wire {
    const what = ({ step, name: of, token }: Message): string => `${step} ${of}${token ? ` ${token}` : ''}`;
    return {
      sent: (message) => this.trace.add(name, () => `${what(message)} →`),
      failed: (message, how) => this.trace.add(name, () => `${what(message)} ${how}`),
      arrived: (message, answer) =>
        this.trace.add(at, () => `${what(message)} of ${name}: ${wordsOfAnswer(answer)}`),
    };
  }
}

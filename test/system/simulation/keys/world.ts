import { Cluster } from '../cluster.ts';
import { DataSource, MOODS } from '../data/source.ts';
import { Troubles } from '../data/troubles.ts';
import type { DataRun } from '../data/watch.ts';
import type { Machine } from '../machine.ts';
import { type Misfortune, Misfortunes } from '../misfortunes.ts';
import { type Message, type Wire, wordsOfAnswer } from '../network.ts';
import { Random } from '../random.ts';
import type { Verdict } from '../verdict.ts';
import type { HeldKey } from './held-key.ts';
import { KeysInstance } from './instance.ts';
import { Persons } from './persons.ts';
import { KeysRest } from './rest.ts';
import { drawKeysScenario, type KeysScenario } from './scenario.ts';
import type { KeysWatch } from './watch.ts';
import { watchesOf } from './watches/index.ts';

/** The random numbers of a world of keys are not those of the other worlds with its seed. */
const STREAM = 0x6b_65_79_73;

const mood: Misfortune<KeysWorld> = {
  weight: 6,
  act: ({ world: { random, source, trace } }) => {
    const name = random.pick(['well', 'ill'] as const);
    source.mood = MOODS[name];
    trace.add('source', () => `is ${name} from now on`);
  },
};

/**
 * A cluster of instances with a cache each, which people change on all of them at once. It shares nothing with the other
 * worlds of its seed.
 */
export class KeysWorld extends Cluster<KeysInstance> {
  readonly scenario: KeysScenario;
  readonly source: DataSource<HeldKey>;
  readonly persons: Persons;
  readonly misfortunes: Misfortunes<KeysWorld>;
  readonly runs: Map<number, DataRun<HeldKey>> = new Map();
  readonly watches: readonly KeysWatch[];
  readonly #troubles: Troubles = new Troubles(this);
  readonly #rest: KeysRest;
  #last = 0;

  constructor(seed: number, isTraced: boolean = false) {
    const random = new Random(seed ^ STREAM);
    const scenario = drawKeysScenario(random);
    super({ seed, random, isTraced, longestBackoff: scenario.coolDown.max, keepVersions: 1 });
    this.scenario = scenario;
    this.source = new DataSource<HeldKey>(this);
    this.persons = new Persons(this);
    this.misfortunes = new Misfortunes<KeysWorld>(this, { mood });
    this.watches = watchesOf(this);
    this.#rest = new KeysRest(this);
    this.startAll();
  }

  /** The next in the order of loads and orders. */
  next(): number {
    this.#last += 1;
    return this.#last;
  }

  protected override make(name: string, machine: Machine): KeysInstance {
    return new KeysInstance(name, machine, this);
  }

  /** Runs all events, repairs the faults, and checks that all is well then. */
  async run(): Promise<Verdict> {
    if (this.scenario.hasAccept || this.scenario.hasSchema) this.source.begin();
    this.persons.begin();
    this.misfortunes.begin();
    await this.until(() => this.timeline.now >= this.scenario.lasts);
    if (this.referee.violation === undefined) await this.#rest.come();
    return this.verdict(this.runs.size);
  }

  protected override check(): void {
    if (this.#troubles.look()) for (const watch of this.watches) watch.spoiled?.();
    for (const { machine, cache, keys } of this.instances) {
      if (machine.hasCrashed || !machine.isTouched) continue;
      machine.isTouched = false;
      for (const key of keys.values()) {
        key.held = key.peek();
        key.status = cache.inspect(key.key);
        for (const watch of this.watches) watch.stepped?.(key);
      }
    }
  }

  /** For so long it could do all that it had to. */
  isWellFor(instance: KeysInstance, ms: number): boolean {
    return this.#troubles.isWellFor(instance, ms);
  }

  began(run: DataRun<HeldKey>): void {
    this.runs.set(run.serial, run);
    for (const watch of this.watches) watch.began?.(run);
  }

  /** @param instanceOf the process, once it is made. */
  wireOf(name: string, instanceOf: () => KeysInstance): Wire {
    const what = ({ step, name: of, token }: Message): string => `${step} ${of}${token ? ` ${token}` : ''}`;
    return {
      sent: (message) => {
        this.trace.add(name, () => `${what(message)} →`);
        for (const watch of this.watches) watch.sent?.(instanceOf(), message);
      },
      failed: (message, how) => {
        instanceOf().faultAt = this.timeline.now;
        this.trace.add(name, () => `${what(message)} ${how}`);
      },
      arrived: (message, answer) => {
        this.trace.add('backend', () => `${what(message)} of ${name}: ${wordsOfAnswer(answer)}`);
        for (const watch of this.watches) watch.arrived?.(instanceOf(), message, answer);
      },
    };
  }
}

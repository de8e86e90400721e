import { DataSource, MOODS } from '../data/source.ts';
import type { DataRun } from '../data/watch.ts';
import { WatchedCluster } from '../data/watched-cluster.ts';
import type { Machine } from '../machine.ts';
import type { Message } from '../message.ts';
import { Misfortunes, moodOf } from '../misfortunes.ts';
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

/**
 * A cluster of instances with a cache each, which people change on all of them at once. It shares nothing with the other
 * worlds of its seed.
 */
export class KeysWorld extends WatchedCluster<KeysInstance, DataRun<HeldKey>> {
  readonly scenario: KeysScenario;
  readonly source: DataSource<HeldKey>;
  readonly persons: Persons;
  readonly misfortunes: Misfortunes<KeysWorld>;
  readonly watches: readonly KeysWatch[];
  readonly #rest: KeysRest;

  constructor(seed: number, isTraced: boolean = false) {
    const random = new Random(seed ^ STREAM);
    const scenario = drawKeysScenario(random);
    super({ seed, random, isTraced, longestBackoff: scenario.coolDown.max });
    this.scenario = scenario;
    this.source = new DataSource<HeldKey>(this);
    this.persons = new Persons(this);
    this.misfortunes = new Misfortunes<KeysWorld>(this, { mood: moodOf(6, MOODS, ['well', 'ill']) });
    this.watches = watchesOf(this);
    this.#rest = new KeysRest(this);
    this.startAll();
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

  protected override stepped({ cache, keys }: KeysInstance): void {
    for (const key of keys.values()) {
      key.held = key.peek();
      key.status = cache.inspect(key.key);
      for (const watch of this.watches) watch.stepped?.(key);
    }
  }

  protected override shown({ step, name, token }: Message): string {
    return `${step} ${name}${token ? ` ${token}` : ''}`;
  }
}

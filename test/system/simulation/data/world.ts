import type { Machine } from '../machine.ts';
import type { Message } from '../message.ts';
import { Misfortunes, moodOf } from '../misfortunes.ts';
import { Random } from '../random.ts';
import type { Verdict } from '../verdict.ts';
import { DataInstance } from './instance.ts';
import { drawMarksScenario, type MarksScenario } from './marks.ts';
import { Persons } from './persons.ts';
import { DataRest } from './rest.ts';
import { type DataScenario, drawDataScenario } from './scenario.ts';
import { Shelf } from './shelf.ts';
import { SignalNetwork } from './signals.ts';
import { DataSource, MOODS } from './source.ts';
import type { DataRun, DataWatch } from './watch.ts';
import { WatchedCluster } from './watched-cluster.ts';
import { watchesOf } from './watches/index.ts';

/** The random numbers of a data world are not those of the other world with its seed. */
const STREAM = 0x64_61_74_61;

/** Those of marks are not those of the rest of a data world. */
const STREAM_OF_MARKS = 0x6d_61_72_6b;

/** Nor are those of signals. */
const STREAM_OF_SIGNALS = 0x68_69_6e_74;

/**
 * A cluster whose source returns bad data now and then, and whose versions people put back, pin and replace. It shares
 * nothing with the {@link World} of its seed.
 */
export class DataWorld extends WatchedCluster<DataInstance, DataRun> {
  readonly scenario: DataScenario;
  readonly marks: MarksScenario;
  readonly markRandom: Random;
  /** `undefined`: they find changes by checks alone. */
  readonly signals: SignalNetwork | undefined;
  readonly source: DataSource<DataInstance>;
  readonly persons: Persons;
  readonly misfortunes: Misfortunes<DataWorld>;
  /** The last load under each token. */
  readonly loadsUnder: Map<number, DataRun> = new Map();
  readonly shelf: Shelf;
  readonly watches: readonly DataWatch[];
  readonly #rest: DataRest;

  constructor(seed: number, isTraced: boolean = false) {
    const random = new Random(seed ^ STREAM);
    const scenario = drawDataScenario(random);
    const { coolDown } = scenario;
    super({ seed, random, isTraced, longestBackoff: coolDown.max });
    this.scenario = scenario;
    this.markRandom = new Random(seed ^ STREAM_OF_MARKS);
    this.marks = drawMarksScenario(this.markRandom, scenario);
    const signalRandom = new Random(seed ^ STREAM_OF_SIGNALS);
    const hasSignals = this.marks.isMarked && signalRandom.chance(0.5);
    this.signals = hasSignals ? new SignalNetwork(this, signalRandom) : undefined;
    this.source = new DataSource<DataInstance>(this);
    this.persons = new Persons(this);
    this.misfortunes = new Misfortunes<DataWorld>(this, { mood: moodOf(6, MOODS, ['well', 'ill']) });
    this.shelf = new Shelf(this);
    this.watches = watchesOf(this);
    this.#rest = new DataRest(this);
    this.startAll();
  }

  protected override make(name: string, machine: Machine): DataInstance {
    return new DataInstance(name, machine, this);
  }

  /** Runs all events, repairs the faults, and checks that all is well then. */
  async run(): Promise<Verdict> {
    this.source.begin();
    this.persons.begin();
    this.misfortunes.begin();
    this.signals?.begin();
    await this.until(() => this.timeline.now >= this.scenario.lasts);
    if (this.referee.violation === undefined) await this.#rest.come();
    return this.verdict(this.runs.size);
  }

  protected override stepped(instance: DataInstance): void {
    instance.held = instance.prices.peek();
    instance.status = instance.prices.inspect();
    for (const watch of this.watches) watch.stepped?.(instance);
  }

  override began(run: DataRun): void {
    if (run.token !== undefined) this.loadsUnder.set(run.token, run);
    super.began(run);
  }

  protected override shown({ step, token }: Message): string {
    return `${step}${token ? ` ${token}` : ''}`;
  }
}

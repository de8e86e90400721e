import {
  type EventOf,
  type EventType,
  type KeyContext,
  type KeyedLoadReturn,
  loaded,
  RefreshingCache,
} from '../../../../src/index.ts';
import { type Edition, schema } from '../data/edition.ts';
import type { Machine } from '../machine.ts';
import { Link } from '../network.ts';
import { Process } from '../process.ts';
import { wordsOf } from '../words.ts';
import { HeldKey } from './held-key.ts';
import { KEYS, NAME } from './scenario.ts';
import type { KeysWorld } from './world.ts';

/** One process of a service with a cache of price lists. */
export class KeysInstance extends Process {
  readonly cache: RefreshingCache<string, Edition>;
  readonly keys: ReadonlyMap<string, HeldKey>;
  readonly bornAt: number;
  /** Its checks of the store come at least that often, in milliseconds. */
  readonly withinMs: number;
  /** The calls of readers and operators that wait. */
  waiting: number = 0;

  constructor(name: string, machine: Machine, world: KeysWorld) {
    const { scenario, timeline, random, backend, source } = world;
    const wire = world.wireOf(name, () => this);
    const { leaseFor, period, timeout, coolDown, whenBackendDown, maxKeys, propagateWithin } = scenario;
    const link = new Link(machine, backend, timeline, random, wire, leaseFor, { isForManyNames: true });
    super(name, machine, link, world);
    const { lock, store } = link;
    this.bornAt = timeline.now;
    this.withinMs = propagateWithin;
    this.keys = new Map(KEYS.map((key) => [key, new HeldKey(key, this)]));
    this.cache = new RefreshingCache<string, Edition>({
      name: NAME,
      load: (key, context) => this.#load(world, this.keyOf(key), context),
      schedule: period,
      max: maxKeys,
      timeout,
      coolDown,
      retry: false,
      clock: machine,
      random: () => random.next(),
      logger: false,
      backend: { lock, store },
      whenBackendDown,
      propagateWithin,
      ...(scenario.hasSchema ? { schema } : {}),
      ...(scenario.hasAccept
        ? { accept: (candidate, about) => source.judge(this.keyOf(about.key as string), candidate, about) }
        : {}),
    });
    this.cache.on('*', (event) => this.#emitted(world, event));
  }

  keyOf(key: string): HeldKey {
    return this.keys.get(key) as HeldKey;
  }

  override get isLoading(): boolean {
    return [...this.keys.values()].some(({ running }) => running.size > 0);
  }

  protected override closeAll(timeout: number): Promise<unknown> {
    return this.cache.close({ timeout });
  }

  #load(
    world: KeysWorld,
    key: HeldKey,
    context: KeyContext<string, Edition>,
  ): KeyedLoadReturn<Edition> | Promise<KeyedLoadReturn<Edition>> {
    const answer = world.source.load(key, context);
    return answer instanceof Promise ? answer.then((value) => tagged(value, key)) : tagged(answer, key);
  }

  #emitted(world: KeysWorld, event: EventOf<EventType>): void {
    const { key } = event as { readonly key?: string };
    const held = key === undefined ? undefined : this.keyOf(key);
    world.trace.add(held?.name ?? this.name, () => wordsOf(event));
    if (held !== undefined) for (const watch of world.watches) watch.emitted?.(held, event);
  }
}

/** The answer of a load, which may be `keep()`. */
function tagged(answer: Edition, { tag }: HeldKey): KeyedLoadReturn<Edition> {
  return 'serial' in answer ? loaded(answer, { tags: [tag] }) : answer;
}
